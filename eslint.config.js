import js from "@eslint/js";
import tseslint from "typescript-eslint";

// Prettier limits the width of code to printWidth, but not that of comments and texts.
const maxLength = {
  code: Infinity,
  comments: 120,
  ignoreUrls: true,
};

export default tseslint.config(
  { ignores: ["**/dist/", "data/", ".tap/", ".nodes/", "clients/typescript/src/openapi.ts"] },
  js.configs.recommended,
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "max-len": ["error", maxLength],
      "max-lines": ["error", 600],
      "max-lines-per-function": ["error", 120],
    },
  },
  // a group of tests is as long as its tests
  { files: ["test/**"], rules: { "max-lines-per-function": "off" } },
  {
    files: ["shared/**", "probe/**", "server/**", "world/**", "packages/*/src/**"],
    ignores: ["shared/config/settings.ts"],
    rules: {
      "no-restricted-properties": [
        "error",
        { object: "process", property: "env", message: "shared/config/settings.ts reads the environment." },
      ],
    },
  },
  { files: [".dependency-cruiser.cjs"], languageOptions: { globals: { module: "writable", __dirname: "readonly" } } },
);
