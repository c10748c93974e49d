/** Copies a link or a command for readers who ask for it. */

const saidForMs = 3_000;

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLButtonElement>("button[data-copy]") : null;
  if (button) void copy(button);
});

async function copy(button: HTMLButtonElement): Promise<void> {
  const { copy, copyPath, done, failed } = button.dataset as Record<string, string>;
  const name = (button.dataset["name"] ??= button.ariaLabel!);
  try {
    // absent where the page did not come by a secure connection
    await navigator.clipboard.writeText(copyPath === "true" ? new URL(copy!, location.href).href : copy!);
    button.ariaLabel = done!;
  } catch {
    button.ariaLabel = failed!;
  }
  setTimeout(() => (button.ariaLabel = name), saidForMs);
}
