import type { Call, Reply } from "./call.ts";

/** One made-up birthday for all models, in both APIs' notations. */
const CREATED = new Date("2026-01-01T00:00:00Z");

/** `GET /models`: the group's models, each with the fields of both SDK families side by side. */
export function listModels({ models }: Call): Reply {
  return {
    body: {
      object: "list",
      data: models.map((id) => ({
        id,
        object: "model",
        created: CREATED.getTime() / 1000,
        owned_by: "sandbox",
        type: "model",
        display_name: `${id} (sandbox)`,
        created_at: CREATED.toISOString(),
      })),
      has_more: false,
      first_id: models[0] ?? null,
      last_id: models.at(-1) ?? null,
    },
  };
}
