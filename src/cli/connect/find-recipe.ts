import { basename } from "node:path";
import type { Recipe } from "../../tools/recipe.ts";
import { RECIPES, SDK_RECIPE } from "../../tools/all.ts";
import { repeatable } from "../../core/config/problem.ts";
import { nearest } from "../../core/text/did-you-mean.ts";
import { Failure } from "../../core/failure.ts";
import { toolName } from "../../core/identity/tool-identity.ts";
import type { TargetTool } from "./destination.ts";

/** The recipe that a person means: by the tool's name in the ledger, its makers' name for it, or its program's. */
export function findRecipe(word: string): Recipe | null {
  const meant = word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, "-");
  return RECIPES.find((recipe) => namesOf(recipe).includes(meant)) ?? null;
}

/** As {@link findRecipe}. @throws Failure naming what may have been meant, where there is none */
export function requireRecipe(word: string): Recipe {
  const recipe = findRecipe(word);
  if (recipe !== null) return recipe;
  const guess = nearest(word, RECIPES.flatMap(namesOf));
  const meant = guess === null ? "" : `; did you mean ${guess}?`;
  throw new Failure(
    `no recipe is known for "${repeatable(word)}"${meant}`,
    "see those that are: tollkeeper connect --list; what any other tool needs: tollkeeper connect NAME --print",
  );
}

function namesOf({ tool, title, signs }: Recipe): string[] {
  return [tool, ...signs.programs, title.toLowerCase().replaceAll(" ", "-")];
}

/** Who a person names, known or not; a stranger is led as programs on the makers' libraries are, under its own name. */
export function targetOfName(name: string): TargetTool {
  const recipe = findRecipe(name);
  return recipe === null ? strangerOf(name) : { recipe, tool: recipe.tool };
}

/**
 * Who a command is, by its program's name.
 * @param name the tool's name that the person gives; tells the recipe, too, where the program does not
 */
export function targetOfCommand(file: string, name: string | undefined): TargetTool {
  const program = basename(file);
  const own = RECIPES.find((recipe) => isProgramOf(recipe, file)) ?? null;
  if (name === undefined) {
    return own === null
      ? strangerOf(program, "; give one with: --tool NAME")
      : { recipe: own, tool: own.tool };
  }
  const named = targetOfName(name);
  return { recipe: own ?? named.recipe, tool: named.tool };
}

/** Is it the tool's own program? Only that understands its flags. */
export function isProgramOf({ signs }: Recipe, file: string): boolean {
  return signs.programs.includes(basename(file));
}

function strangerOf(name: string, advice = ""): TargetTool {
  const tool = toolName(name);
  if (tool !== null) return { recipe: SDK_RECIPE, tool };
  throw new Failure(
    `"${repeatable(name)}" cannot be a tool's name`,
    `a name is 1 to 64 of a-z, 0-9, ".", "_" and "-", and starts with a letter or digit${advice}`,
  );
}
