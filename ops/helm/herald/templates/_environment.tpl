{{/* All variables of a process. Takes { root, process, own }. */}}
{{- define "herald.environment" -}}
{{ include "herald.environment.shared" .root }}
{{- if eq .process "api" }}
{{ include "herald.environment.api" .root }}
{{- else if eq .process "worker" }}
{{ include "herald.environment.worker" .root }}
{{- end }}
{{- include "herald.environment.given" . }}
{{- end -}}

{{/* Of all processes: which Redis, and the key of the secrets. */}}
{{- define "herald.environment.shared" -}}
{{- $kinds := dict "server" "REDIS_URL" "sentinels" "REDIS_SENTINELS" "cluster" "REDIS_CLUSTER_NODES" -}}
{{- with .Values.redis -}}
- name: {{ get $kinds .kind }}
  {{- include "herald.textOrSecret" (dict "text" .address "secret" .existingSecret "key" .key) | nindent 2 }}
{{- if eq .kind "sentinels" }}
- name: REDIS_SENTINEL_MASTER
  value: {{ .sentinelMaster | quote }}
{{- with .sentinelPassword }}
{{- if .existingSecret }}
- name: REDIS_SENTINEL_PASSWORD
  {{- include "herald.textOrSecret" (dict "secret" .existingSecret "key" .key) | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
- name: REDIS_MIN_REPLICAS
  value: {{ .minReplicas | quote }}
{{- end }}
{{- with .Values.history }}
{{- if .existingSecret }}
- name: HISTORY_URL
  {{- include "herald.textOrSecret" (dict "secret" .existingSecret "key" .key) | nindent 2 }}
{{- end }}
{{- end }}
- name: SHARDS
  value: {{ .Values.shards | quote }}
- name: SECRETS_KEY
  {{- include "herald.textOrSecret" (dict "secret" .Values.secretsKey.existingSecret "key" .Values.secretsKey.key) | nindent 2 }}
{{- end -}}

{{- define "herald.environment.api" -}}
- name: HOST
  value: {{ .Values.bindAddress | quote }}
- name: PORT
  value: "8080"
- name: ACTION_URL_TEMPLATE
  value: {{ .Values.actionUrlTemplate | quote }}
{{- with .Values.publicUrl }}
- name: PUBLIC_URL
  value: {{ . | quote }}
{{- end }}
- name: TRUST_PROXY
  value: {{ .Values.api.trustProxy | quote }}
{{- with .Values.operators }}
{{- if .existingSecret }}
- name: OPERATOR_USER
  {{- include "herald.textOrSecret" (dict "secret" .existingSecret "key" .userKey) | nindent 2 }}
- name: OPERATOR_PASSWORD
  {{- include "herald.textOrSecret" (dict "secret" .existingSecret "key" .passwordKey) | nindent 2 }}
- name: OPERATOR_WRITE
  value: {{ .write | quote }}
{{- end }}
{{- end }}
{{- with .Values.metricsToken }}
{{- if .existingSecret }}
- name: METRICS_TOKEN
  {{- include "herald.textOrSecret" (dict "secret" .existingSecret "key" .key) | nindent 2 }}
{{- end }}
{{- end }}
{{- if include "herald.operatorPort" . }}
- name: OPERATOR_HOST
  value: {{ .Values.bindAddress | quote }}
- name: OPERATOR_PORT
  value: "8082"
{{- end }}
{{- end -}}

{{- define "herald.environment.worker" -}}
- name: WORKER_HOST
  value: {{ .Values.bindAddress | quote }}
- name: WORKER_PORT
  value: "8081"
- name: DELIVERY_TIMEOUT
  value: {{ printf "%ds" (int .Values.worker.deliveryTimeoutSeconds) }}
{{- with .Values.worker.dnsServers }}
- name: EGRESS_DNS_SERVERS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.notices }}
{{- if .url }}
- name: NOTICE_URL
  value: {{ .url | quote }}
- name: NOTICE_SECRET
  {{- include "herald.textOrSecret" (dict "secret" .existingSecret "key" .key) | nindent 2 }}
{{- end }}
{{- end }}
{{- with .Values.egressProxy }}
{{- if or .url .existingSecret }}
- name: EGRESS_PROXY_URL
  {{- include "herald.textOrSecret" (dict "text" .url "secret" .existingSecret "key" .key) | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Variables of env, those of the process before those of all, and what stands in extraEnv. Takes { root, own }. */}}
{{- define "herald.environment.given" -}}
{{- range $name, $value := merge (dict) .own.env .root.Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with concat .root.Values.extraEnv .own.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* A variable's value, or where it comes from. Takes { text, secret, key }. */}}
{{- define "herald.textOrSecret" -}}
{{- if .secret -}}
valueFrom: { secretKeyRef: { name: {{ .secret | quote }}, key: {{ .key | quote }} } }
{{- else -}}
value: {{ .text | quote }}
{{- end -}}
{{- end -}}
