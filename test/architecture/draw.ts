// `npm run picture`: draws docs/request-path.svg anew.
import { writeFileSync } from "node:fs";
import { drawRequestPath } from "./request-path.ts";

writeFileSync(new URL("../../docs/request-path.svg", import.meta.url), drawRequestPath());
