{{/* What every pod says of itself. Takes { root, process, own }. */}}
{{- define "herald.pod" -}}
{{- $values := .root.Values -}}
serviceAccountName: {{ $values.serviceAccountName }}
automountServiceAccountToken: false
# Variables of Services, such as WORKER_PORT, would look like Herald's own.
enableServiceLinks: false
{{- with $values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  {{- with $values.runAsUser }}
  runAsUser: {{ . }}
  runAsGroup: {{ . }}
  {{- end }}
  seccompProfile: { type: RuntimeDefault }
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "herald.selector" . | nindent 8 }}
{{- with .own.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .own.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .own.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.certificates.existingConfigMap }}
volumes:
  - name: certificates
    configMap: { name: {{ . | quote }} }
{{- end }}
{{- end -}}

{{/* What every container says of itself. Takes the root. */}}
{{- define "herald.container" -}}
image: {{ include "herald.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- if .Values.certificates.existingConfigMap }}
volumeMounts:
  - name: certificates
    mountPath: /herald/certificates
    readOnly: true
{{- end }}
{{- end -}}

{{/*
The start may wait: the first process of a new release may have data to upgrade, ten seconds for a million keys.
/healthz fails when the process hangs, /readyz when it can't work, such as while Redis is away. A restart would not help
against the latter, so it never causes one.
*/}}
{{- define "herald.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 300
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}
