/** A variable of the environment, and what it is for. */
export interface Variable {
  name: string;
  value: string;
  why: string;
}

/** As a process gets them. */
export function valuesOf(variables: readonly Variable[]): Record<string, string> {
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
}
