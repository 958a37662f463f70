{{/* The beginning of all names. */}}
{{- define "herald.fullname" -}}
{{- $default := contains "herald" .Release.Name | ternary .Release.Name (printf "%s-herald" .Release.Name) -}}
{{- .Values.fullnameOverride | default $default | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* The labels by which a process is selected; they never change. Takes { root, process }. */}}
{{- define "herald.selector" -}}
app.kubernetes.io/name: herald
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .process }}
{{- end -}}

{{/* All labels of an object. Takes { root, process }. */}}
{{- define "herald.labels" -}}
{{ include "herald.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "herald-%s" .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Whether the API has a port of operators: text that is empty when it hasn't. Takes the root. */}}
{{- define "herald.operatorPort" -}}
{{- if or .Values.operators.existingSecret .Values.metricsToken.existingSecret -}}operators{{- end -}}
{{- end -}}

{{- define "herald.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{ .Values.image.repository }}:{{ $tag }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end -}}
