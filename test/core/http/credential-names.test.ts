import assert from "node:assert/strict";
import { test } from "node:test";
import { foldName, namesCredential } from "../../../src/core/http/credential-names.ts";
import { holdsCredential } from "../../../src/core/secrets/credential-values.ts";
import { RECORDED_REQUESTS } from "../../helpers/tools/recorded-requests.ts";
import { splitWords } from "../../fuzz/words.ts";

/** Names of credentials, by where they come from. Names of variables stand for the headers and parameters that are named like them. */
const CREDENTIALS: Record<string, string> = {
  "headers of HTTP and its extensions": `Authorization Proxy-Authorization Authentication-Info X-Authorization WWW-Authenticate Cookie Cookie2
    Signature Signature-Input DPoP Remote-User X-Forwarded-Authorization X-Original-Authorization`,
  "headers of AI services and gateways": `x-api-key api-key apikey x-goog-api-key Ocp-Apim-Subscription-Key anthropic-api-key
    openai-api-key helicone-auth x-portkey-api-key x-portkey-virtual-key cf-aig-authorization x-litellm-key x-litellm-api-key
    x-github-token x-functions-key X-Amz-Security-Token x-rapidapi-key xi-api-key x-key x-subscription-token cf-access-client-secret
    x-goog-iap-jwt-assertion x-vault-token x-auth-email-key x-ms-token-aad-access-token databricks-token hf-token`,
  "headers that were once forwarded": `x-authtoken accesstoken apitoken x-clientsecret x-userpassword jsessionid x-auth-v2 x-api-key-v2
    X.Api.Key X--Api--Key x~api~key _authorization X.Forwarded.Authorization`,
  "query parameters of services": `key api_key apiKey APIKEY access_token accessToken oauth_token subscription-key subscriptionKey token
    auth auth_token authtoken sig X-Amz-Signature X-Amz-Credential X-Goog-Signature X-Goog-Credential AWSAccessKeyId Signature
    client_secret refresh_token id_token id_token_hint bearer_token session_token user_key app_key appkey hapikey code_assertion
    client_assertion jwt password passwd pwd pass secret private_token job_token sharedaccesskey sv_sas sas sid connect.sid`,
  "gitleaks (the words of its generic rule)": `my_auth my_api_key my_credential my_creds my_key my_password my_passwd my_secret my_token
    access_key access_token`,
  "detect-secrets (the words of its keyword rule)": `api_key apikey auth_key authkey service_key servicekey account_key accountkey db_key dbkey
    database_key databasekey priv_key privkey private_key privatekey client_key clientkey db_pass dbpass database_pass
    databasepass key_pass keypass password passwd pwd secret contrasena`,
  "trufflehog (names in its detectors)": `api_token app_secret app_token auth_token aws_access_key_id aws_secret_access_key aws_session_token
    azure_storage_key client_secret consumer_key consumer_secret encryption_key github_token gitlab_token heroku_api_key jira_token
    mailgun_key npm_token personal_access_token pat private_key secret_key sendgrid_key shared_secret signing_key slack_token
    sonar_token square_token stripe_secret twilio_api_key webhook_secret`,
  "OWASP (session names and header lists)": `JSESSIONID PHPSESSID ASP.NET_SessionId ASPSESSIONID CFID CFTOKEN X-Auth-Token X-Csrf-Token X-XSRF-TOKEN
    csrf xsrf csrfmiddlewaretoken _csrf authenticity_token __RequestVerificationToken`,
  "passwords and one-time codes": `user_password userpwd db_password passphrase passcode x-otp totp mfa X-MFA-Code smtp_pass`,
  "signatures and virtual keys of gateways": `sign x-sign x-ca-sign x-bce-sign x-tc-sign x-bf-vk vk cf-access-client-id`,
  "short names": `code x-code access_code device_code code_verifier pin x-pin x-admin-pin pw x-pw user_pw tok x-tok x-apitok ak sk x-ak x-sk
    keyvalue x-keyvalue mykeyvalue key_values session x-session sessionid x-sessionid ticket x-ticket license x-licence saml SAMLResponse
    x-saml x-oidc x-psk jws jwe`,
  "words around the secret one": `x-auth-token-old api_key_2 apikey2 x-token1 token_v2 key[] auth[token] auth[0][secret] user.password
    x-api-key-id apikeyid x-access-token-b64 encrypted-credentials x-hmac-signature oauth2 basicauth unauthorized`,
};

/** What is forwarded, by where it comes from. */
const HARMLESS: Record<string, string> = {
  "headers of tools": `anthropic-beta anthropic-version anthropic-dangerous-direct-browser-access openai-beta openai-organization openai-project
    openai-platform idempotency-key x-idempotency-key x-client-request-id x-request-id session-id session_id thread-id x-session-id
    x-session-affinity x-claude-code-session-id x-codex-turn-state x-codex-turn-metadata x-codex-window-id x-codex-routing-hint
    originator version x-app x-title http-referer x-initiator x-interaction-type x-goog-user-project x-goog-api-client
    x-goog-api-version x-stainless-arch x-stainless-helper-method x-stainless-lang x-stainless-os x-stainless-package-version
    x-stainless-retry-count x-stainless-runtime x-stainless-runtime-version x-stainless-timeout user-agent accept traceparent
    tracestate baggage sec-fetch-mode content-type content-length content-encoding x-server-timeout helicone-cache-enabled
    cf-aig-cache-ttl cf-aig-cache-key x-amzn-bedrock-accept x-ms-client-request-id x-openai-client-user-agent`,
  "counts of tokens": `x-request-token-count max_tokens maxTokens max-output-tokens maxOutputTokens max_completion_tokens budget_tokens
    thinking_budget_tokens token_budget token-limit x-tokens-per-minute input-tokens total_tokens cached_tokens tokenCount`,
  "query parameters": `api-version beta limit client_version after before after_id before_id order sort_key page pageSize pageToken page_token
    nextPageToken next_page_token continuationToken upload_id uploadType alt $alt fields prettyPrint include include[] stream model
    starting_after cache_key partitionKey`,
  "words around one that is a secret only by itself": `session-id sessions x-session-affinity claude-code-session-id status-code error_code
    language-code country_code ticket-id x-license-type software-license sign-in signed-headers pinned pin-version max_tok task disk x-risk
    encode decoder`,
  "words that only look similar": `author authors authority x-author-id tokenizer tokenization keyword keywords x-keywords-ai keyboard secretary
    secretariat bypass x-bypass-cache compass x-pass-through x-passes design assigned signal sidecar pattern account-id compassion`,
};
for (const [what, names] of Object.entries(CREDENTIALS)) {
  test(`takes each of these for a credential: ${what}`, () => {
    const passed = splitWords(names).filter((name) => !namesCredential(foldName(name)));
    assert.deepEqual(passed, []);
  });
}

for (const [what, names] of Object.entries(HARMLESS)) {
  test(`takes none of these for a credential: ${what}`, () => {
    const taken = splitWords(names).filter((name) => namesCredential(foldName(name)));
    assert.deepEqual(taken, []);
  });
}

test("takes no header of the recorded requests for a credential, except those that have one", () => {
  const names = new Set(
    RECORDED_REQUESTS.flatMap(({ headers }) => headers.map(([name]) => name.toLowerCase())),
  );
  const taken = [...names].filter((name) => namesCredential(foldName(name)));
  assert.deepEqual(taken.sort(), ["authorization", "sec-websocket-key", "x-api-key"]);
});

test("finds no credential in the values of the recorded requests, in which placeholders stand for them", () => {
  const found = RECORDED_REQUESTS.flatMap(({ headers }) => headers)
    .filter(([, value]) => holdsCredential(value))
    .map(([name]) => name.toLowerCase());
  assert.deepEqual(found, []);
});

test("takes a name for a credential that is too long to be told from one", () => {
  assert.equal(namesCredential(foldName(`${"max-".repeat(10)}tokens`)), false);
  assert.equal(namesCredential(foldName(`${"max-".repeat(40)}tokens`)), true);
});
