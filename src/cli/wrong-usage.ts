import { Failure } from "../core/failure.ts";

/** A command line that makes no sense. Exits with a code of its own. */
export class WrongUsage extends Failure {}
