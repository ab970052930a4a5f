import { serveMcp, type McpAnswer, type McpQuestion } from "../../../adapters/mcp/server.ts";
import { programVersion } from "../../../adapters/program.ts";
import { defineCommand } from "../../command.ts";
import { describeFailure, note } from "../../terminal/console.ts";
import { LAST_REQUEST } from "./last-request.ts";
import { MODEL_PRICES } from "./model-prices.ts";
import { PROJECT_COST } from "./project-cost.ts";
import { readGiven, type Asked, type Question } from "./question.ts";
import { findScope } from "./scope.ts";
import { SESSION_COST } from "./session-cost.ts";
import { BUDGETS, LIMITS } from "./standing.ts";

/** `tollkeeper mcp`: answers the questions of an agent about costs and limits, by the Model Context Protocol. Changes nothing. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("all-projects", {
        type: "boolean",
        default: false,
        describe: "Also give the figures of other projects than that of the working directory",
      })
      .epilogue(
        "A tool starts this, and speaks with it on standard input and output. It ends when the input does.",
      ),
  handler: async ({ config: file, allProjects }) => {
    const scope = await findScope(allProjects);
    serveMcp({
      version: programVersion(),
      instructions: INSTRUCTIONS,
      tools: QUESTIONS.map((question) => ({
        tool: question.tool,
        answer: (asked) => answer(question, { ...asked, scope, file }),
      })),
      onError: (message) => note(`note: what the client sent was not understood: ${message}`),
    });
  },
});

const QUESTIONS = [SESSION_COST, LAST_REQUEST, PROJECT_COST, BUDGETS, LIMITS, MODEL_PRICES];

const INSTRUCTIONS =
  "tollkeeper records what requests to models cost. Costs are estimates at list prices unless the text says otherwise. ≥ means at least. What is unpriced is in no cost. Sandbox usage is made up.";

type Asking = Omit<Asked, "given"> & Pick<McpQuestion, "given">;

async function answer(question: Question, { given, ...asked }: Asking): Promise<McpAnswer> {
  try {
    return await question.answer({ ...asked, given: readGiven(question.tool, given) });
  } catch (error) {
    return { text: describeFailure(error), document: null };
  }
}
