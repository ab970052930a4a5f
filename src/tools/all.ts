import type { Recipe } from "./recipe.ts";
import { aider } from "./aider.ts";
import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { continueDev } from "./continue.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import { droid } from "./droid.ts";
import { goose } from "./goose.ts";
import { jetbrains } from "./jetbrains.ts";
import { junie } from "./junie.ts";
import { kilo } from "./kilo.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { qwenCode } from "./qwen-code.ts";
import { sdk } from "./sdk.ts";
import { vscode } from "./vscode.ts";
import { zed } from "./zed.ts";

/** For programs on the makers' libraries: what leads any program here that we know nothing of. */
export const SDK_RECIPE = sdk;

const IN_TERMINALS = [
  claudeCode,
  codex,
  opencode,
  kilo,
  qwenCode,
  cline,
  continueDev,
  copilot,
  pi,
  droid,
  aider,
  goose,
  junie,
];

const EDITORS = [zed, vscode, cursor, jetbrains];

/** Every tool that is known, in the order in which they are listed. */
export const RECIPES: readonly Recipe[] = [...IN_TERMINALS, ...EDITORS, sdk];
