{{/* What the schema can't tell: values that need each other. Says everything that is wrong at once. */}}
{{- define "herald.check" -}}
{{- $problems := list -}}
{{- with .Values -}}
{{- if not .image.repository -}}
{{- $problems = append $problems "image.repository must be set: where you pushed the image, such as registry.example.com/herald" -}}
{{- end -}}
{{- if not .secretsKey.existingSecret -}}
{{- $problems = append $problems "secretsKey.existingSecret must name a Secret that holds SECRETS_KEY: kubectl create secret generic herald --from-literal=SECRETS_KEY=$(openssl rand -base64 32)" -}}
{{- end -}}
{{- if not .actionUrlTemplate -}}
{{- $problems = append $problems "actionUrlTemplate must be set, such as https://app.example.com/tasks/{taskId}" -}}
{{- end -}}
{{- if eq (empty .redis.address) (empty .redis.existingSecret) -}}
{{- $problems = append $problems "redis.address or redis.existingSecret must be set, and not both: each says where Redis is" -}}
{{- end -}}
{{- if contains "@" .redis.address -}}
{{- $problems = append $problems "redis.address must have no password: put the whole address into a Secret, and name that in redis.existingSecret" -}}
{{- end -}}
{{- if and (eq .redis.kind "sentinels") (not .redis.sentinelMaster) -}}
{{- $problems = append $problems "redis.sentinelMaster must be set, since redis.kind is sentinels: the name under which they watch the master" -}}
{{- end -}}
{{- if and (ne .redis.kind "sentinels") (or .redis.sentinelMaster .redis.sentinelPassword.existingSecret) -}}
{{- $problems = append $problems "redis.kind must be sentinels, since redis.sentinelMaster or redis.sentinelPassword is set" -}}
{{- end -}}
{{- if ne (empty .notices.url) (empty .notices.existingSecret) -}}
{{- $problems = append $problems "notices.url and notices.existingSecret must both be set, or neither" -}}
{{- end -}}
{{- if and .egressProxy.url .egressProxy.existingSecret -}}
{{- $problems = append $problems "egressProxy.url or egressProxy.existingSecret can be set, and not both" -}}
{{- end -}}
{{- if contains "@" .egressProxy.url -}}
{{- $problems = append $problems "egressProxy.url must have no password: put the whole url into a Secret, and name that in egressProxy.existingSecret" -}}
{{- end -}}
{{- if and .ingress.enabled (not .ingress.host) -}}
{{- $problems = append $problems "ingress.host must be set, since ingress.enabled is" -}}
{{- end -}}
{{- if and .ingress.enabled (lt (int .api.trustProxy) 1) -}}
{{- $problems = append $problems "api.trustProxy must count the Ingress (1 if nothing else is in front): without it all callers share one address, and its limits" -}}
{{- end -}}
{{- if and .networkPolicy.enabled (not .networkPolicy.redis.to) -}}
{{- $problems = append $problems "networkPolicy.redis.to must say where Redis is, such as [{ipBlock: {cidr: 10.0.3.0/24}}]; or set networkPolicy.enabled=false" -}}
{{- end -}}
{{- if and .networkPolicy.enabled (or .egressProxy.url .egressProxy.existingSecret) (not .networkPolicy.proxy.to) -}}
{{- $problems = append $problems "networkPolicy.proxy.to must say where the proxy of egressProxy is, such as [{ipBlock: {cidr: 10.0.4.10/32}}]" -}}
{{- end -}}
{{- if and .networkPolicy.enabled .history.existingSecret (not .networkPolicy.history.to) -}}
{{- $problems = append $problems "networkPolicy.history.to must say where the PostgreSQL of history is, such as [{ipBlock: {cidr: 10.0.5.0/24}}]" -}}
{{- end -}}
{{- range $process := list "api" "worker" -}}
{{- $seen := dict -}}
{{- range include "herald.environment" (dict "root" $ "process" $process "own" (index $.Values $process)) | fromYamlArray -}}
{{- if hasKey $seen .name -}}
{{- $problems = append $problems (printf "%s must be set once for the %s: extraEnv sets what env or another value does" .name $process) -}}
{{- end -}}
{{- $_ := set $seen .name true -}}
{{- end -}}
{{- with index $.Values $process -}}
{{- if lt (int .autoscaling.maxReplicas) (int .autoscaling.minReplicas) -}}
{{- $problems = append $problems (printf "%s.autoscaling.maxReplicas must not be less than minReplicas" $process) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $problems -}}
{{- fail (printf "\n- %s" (join "\n- " .)) -}}
{{- end -}}
{{- end -}}
