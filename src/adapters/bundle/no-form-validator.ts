import process from "node:process";

/**
 * In the bundle it takes the place of the validator of `@modelcontextprotocol/server`, which checks what a person has filled into a
 * form: 289 kB that write and run code. tollkeeper shows no forms.
 */
class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("tollkeeper shows no forms");
  }
}

export { DefaultJsonSchemaValidator, process };
