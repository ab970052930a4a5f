import type { OtlpConfig } from "../config/config.ts";
import type { AttributeValues } from "./exported-exchange.ts";

/** What identifies the machine and the user. Neither is sent unless the configuration says so. */
interface Identity {
  hostName: string;
  userName: string;
  /** Returns a salted hash, which does not reveal the text. */
  hash(text: string): string;
}

/** What distinguishes this program from those of other machines for receivers. */
interface Instance {
  version: string;
  /** Random, and kept: tells which metrics belong together, but identifies neither user nor machine. */
  id: string;
}

/** Returns the resource attributes of all data that is sent. */
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
