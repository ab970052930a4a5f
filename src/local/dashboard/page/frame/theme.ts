import { element } from "../elements.ts";

/** `auto` is that of the system. */
const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const KEY = "tollkeeper-theme";

/**
 * A button that goes through the themes. The browser keeps the choice.
 * @param onChange - called when another one is shown, as a chart has the colours that it was drawn with
 */
export function themeButton(onChange: () => void): HTMLElement {
  const button = element("button", { class: "quiet", onclick: () => choose(nextTheme()) });
  const show = () => {
    document.documentElement.dataset["theme"] = chosenTheme();
    button.textContent = `Theme: ${chosenTheme()}`;
  };
  const choose = (theme: Theme) => {
    localStorage.setItem(KEY, theme);
    show();
    onChange();
  };
  show();
  return button;
}

function chosenTheme(): Theme {
  return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "auto";
}

function nextTheme(): Theme {
  return THEMES[(THEMES.indexOf(chosenTheme()) + 1) % THEMES.length] ?? "auto";
}
