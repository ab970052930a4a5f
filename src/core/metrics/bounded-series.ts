import { OTHER } from "./bounded-names.ts";

/** The names of a series, of which those that programs choose can be left out. */
interface Names {
  tool?: string;
  requested: string | null;
  served: string | null;
}

/**
 * Series by their names. Beyond a limit, the tool and the models of a new one are {@link OTHER}, so that no program determines how many
 * series there are.
 */
export class BoundedSeries<Of extends Names, Series extends { readonly names: Of }> {
  readonly #limit: number;
  readonly #create: (names: Of) => Series;
  readonly #series = new Map<string, Series>();

  constructor(limit: number, create: (names: Of) => Series, known: readonly Series[]) {
    this.#limit = limit;
    this.#create = create;
    for (const series of known) this.#series.set(keyOf(series.names), series);
  }

  at(names: Of): Series {
    return (
      this.#series.get(keyOf(names)) ?? this.#open(this.#series.size < this.#limit ? names : merged(names))
    );
  }

  all(): Series[] {
    return [...this.#series.values()];
  }

  #open(names: Of): Series {
    const key = keyOf(names);
    const series = this.#series.get(key) ?? this.#create(names);
    this.#series.set(key, series);
    return series;
  }
}

function merged<Of extends Names>(names: Of): Of {
  const { tool, requested, served } = names;
  return {
    ...names,
    ...(tool !== undefined && { tool: OTHER }),
    requested: requested === null ? null : OTHER,
    served: served === null ? null : OTHER,
  };
}

/** Names are printable, so a line break divides them. */
function keyOf(names: Names): string {
  let key = "";
  for (const name in names) key += `${String(names[name as keyof Names])}\n`;
  return key;
}
