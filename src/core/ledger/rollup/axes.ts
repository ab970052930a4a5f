/** What is known of each request, whatever happens to its records. `requested` is the model of the record, `model` that of the tokens. */
const AXES = ["tool", "requested", "upstream", "key", "route", "outcome", "model"] as const;

/** What the names of the groups are, in their order, by kind. Those of details begin with those of a rollup. */
export const ROLLUP_AXES = {
  rollup: AXES,
  details: [...AXES, "session", "project", "branch", "agent"],
} as const;
