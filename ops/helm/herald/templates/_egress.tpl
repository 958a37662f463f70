{{/* Name servers of the cluster, and Redis: rules for every process. */}}
{{- define "herald.egress.services" -}}
{{- $redis := .Values.networkPolicy.redis -}}
{{- $usual := eq .Values.redis.kind "sentinels" | ternary (list 6379 26379) (list 6379) -}}
- ports: [{ port: 53, protocol: UDP }, { port: 53, protocol: TCP }]
  {{- with .Values.networkPolicy.dns.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
- ports:
    {{- range $redis.ports | default $usual }}
    - port: {{ . }}
    {{- end }}
  to: {{- toYaml $redis.to | nindent 4 }}
{{- if .Values.history.existingSecret }}
- ports:
    {{- range .Values.networkPolicy.history.ports }}
    - port: {{ . }}
    {{- end }}
  to: {{- toYaml .Values.networkPolicy.history.to | nindent 4 }}
{{- end }}
{{- end -}}

{{/* What workers reach besides: resolvers of their own, and the proxy or the world. */}}
{{- define "herald.egress.receivers" -}}
{{- $policy := .Values.networkPolicy -}}
{{- with .Values.worker.dnsServers -}}
- ports: [{ port: 53, protocol: UDP }, { port: 53, protocol: TCP }]
  to:
    {{- range . }}
    - ipBlock: { cidr: {{ contains ":" . | ternary (printf "%s/128" .) (printf "%s/32" .) | quote }} }
    {{- end }}
{{ end -}}
{{- if or .Values.egressProxy.url .Values.egressProxy.existingSecret -}}
- to: {{- toYaml $policy.proxy.to | nindent 4 }}
  {{- include "herald.ports" $policy.proxy.ports | nindent 2 }}
{{- else -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          {{- include "herald.notPublic.v4" . | nindent 10 }}
          {{- range $policy.worker.except }}
          {{- if not (contains ":" .) }}
          - {{ . }}
          {{- end }}
          {{- end }}
    - ipBlock:
        # The only range with public addresses.
        cidr: 2000::/3
        except:
          {{- include "herald.notPublic.v6" . | nindent 10 }}
          {{- range $policy.worker.except }}
          {{- if contains ":" . }}
          - {{ . }}
          {{- end }}
          {{- end }}
  {{- include "herald.ports" $policy.worker.ports | nindent 2 }}
{{- end -}}
{{- end -}}

{{- define "herald.ports" -}}
{{- with . -}}
ports:
  {{- range . }}
  - port: {{ . }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/*
What packages/egress/src/special-purpose-addresses.ts refuses, joined where one range holds another. The guard in the
worker decides; this is the fence behind it.
*/}}
{{- define "herald.notPublic.v4" -}}
- 0.0.0.0/8
- 10.0.0.0/8
- 100.64.0.0/10
- 127.0.0.0/8
- 168.63.129.16/32
- 169.254.0.0/16
- 172.16.0.0/12
- 192.0.0.0/24
- 192.0.2.0/24
- 192.31.196.0/24
- 192.52.193.0/24
- 192.88.99.0/24
- 192.168.0.0/16
- 192.175.48.0/24
- 198.18.0.0/15
- 198.51.100.0/24
- 203.0.113.0/24
- 224.0.0.0/4
- 240.0.0.0/4
{{- end -}}

{{- define "herald.notPublic.v6" -}}
- 2001::/23
- 2001:db8::/32
- 2002::/16
- 2620:4f:8000::/48
- 3fff::/20
{{- end -}}
