{{- define "wiki.labels" -}}
app.kubernetes.io/name: wiki
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "wiki.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "wiki.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 1000
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "wiki.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}
