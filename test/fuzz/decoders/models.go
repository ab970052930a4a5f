// Reads bodies in base64, one a line. Prints for each, as JSON, the models that Go's encoding/json finds.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(make([]byte, 1<<20), 1<<26)
	for scanner.Scan() {
		body, _ := base64.StdEncoding.DecodeString(scanner.Text())
		found := []*string{}
		var object struct{ Model *string `json:"model"` }
		if json.Unmarshal(body, &object) == nil && object.Model != nil {
			found = append(found, object.Model)
		}
		var members map[string]any
		if json.Unmarshal(body, &members) == nil {
			if model, ok := members["model"].(string); ok {
				found = append(found, &model)
			}
		}
		line, _ := json.Marshal(found)
		fmt.Println(string(line))
	}
}
