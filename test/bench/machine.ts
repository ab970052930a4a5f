import { cpus, release, type } from "node:os";

/** The machine that was used. */
export interface Machine {
  cpu: string;
  cores: number;
  kernel: string;
  node: string;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    kernel: `${type()} ${release()}`,
    node: process.version,
  };
}
