{{- define "plain.name" -}}
{{ .Values.fullnameOverride | default .Release.Name }}
{{- end -}}
