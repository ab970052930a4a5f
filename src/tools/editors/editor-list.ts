/** Where the names of many editors' processes can be looked up. */
export const EDITOR_LIST = {
  source: "https://github.com/vitejs/launch-editor, packages/launch-editor/editor-info",
  date: "2026-11-22",
};
