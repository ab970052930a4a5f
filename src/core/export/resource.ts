import type { OtlpConfig } from "../config/config.ts";
import type { AttributeValues } from "./exported-exchange.ts";

/** What the machine could be told apart by. Neither leaves it unless the configuration says so. */
interface Identity {
  hostName: string;
  userName: string;
  /** Returns a salted hash, from which nobody can find out what it is of. */
  hash(text: string): string;
}

/** This program, as receivers tell it from those of other machines. */
interface Instance {
  version: string;
  /** Random, and kept: says which sums belong together, and neither whose they are nor where. */
  id: string;
}

/** Returns the attributes of everything that is sent. */
export function describeResource(
  { machine, user, resource }: Pick<OtlpConfig, "machine" | "user" | "resource">,
  { version, id }: Instance,
  identity: Identity,
): AttributeValues {
  const { hostName, userName, hash } = identity;
  return {
    "service.name": "tollkeeper",
    "service.version": version,
    "service.instance.id": id,
    ...(machine === "name" && { "host.name": hostName }),
    ...(machine === "hash" && { "host.id": hash(hostName) }),
    ...(user === "name" && { "user.name": userName }),
    ...(user === "hash" && { "user.hash": hash(userName) }),
    ...resource,
  };
}
