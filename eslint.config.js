import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config({ ignores: ["**/dist/", "data/", ".tap/", ".nodes/"] }, js.configs.recommended, {
  files: ["**/*.ts", "**/*.tsx"],
  extends: [tseslint.configs.recommendedTypeChecked],
  languageOptions: { parserOptions: { projectService: true } },
});
