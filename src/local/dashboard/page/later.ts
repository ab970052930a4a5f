/** The parts of the page that are loaded when they are first shown: the names of their scripts. */
type PartName = "health" | "record" | "sessions";

/** Where each script puts what it exports. */
const parts = globalThis as { tollkeeperParts?: Partial<Record<PartName, unknown>> };

const loading = new Map<string, Promise<unknown>>();

/**
 * Returns what a part of the page exports. It is loaded the first time. Throws where no daemon sends it; the next call tries
 * again.
 */
export async function load<Part>(name: PartName): Promise<Part> {
  const known = loading.get(name) ?? runScript(name);
  loading.set(name, known);
  await known.catch(() => loading.delete(name));
  const part = parts.tollkeeperParts?.[name];
  if (part === undefined) throw new Error(`${name}.js cannot be loaded`);
  return part as Part;
}

function runScript(name: string): Promise<unknown> {
  const later = document.querySelector<HTMLTemplateElement>("#later");
  const listed = later?.content.querySelector<HTMLScriptElement>(`[src$="/${name}.js"]`);
  if (listed === undefined || listed === null) return Promise.reject(new Error(`${name}.js is not listed`));
  const script = document.importNode(listed, true);
  return new Promise((resolve, reject) => {
    script.addEventListener("load", resolve);
    script.addEventListener("error", reject);
    document.head.append(script);
  });
}
