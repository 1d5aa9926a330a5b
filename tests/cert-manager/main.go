// The controller, the cainjector and the webhook of cert-manager, from its library: the modules of its own programs are not published.
// The name of the program decides which one it is. Flags are those of cert-manager; the ones that tests do not need are ignored.
//
// The path of the module lets it use the internal packages, as cert-manager's own programs do. Issuers that need a service outside of
// the cluster (ACME, Vault, Venafi) are left out.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	config "github.com/cert-manager/cert-manager/internal/apis/config/webhook"
	"github.com/cert-manager/cert-manager/internal/kube"
	"github.com/cert-manager/cert-manager/internal/webhook"
	"github.com/cert-manager/cert-manager/pkg/api"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx = logf.NewContext(ctx, logf.Log)
	ctrl.SetLogger(logf.Log)

	flags := pflag.NewFlagSet(os.Args[0], pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	kubeconfig := flags.String("kubeconfig", "", "")
	namespace := flags.String("cluster-resource-namespace", "kube-system", "")
	options := config.WebhookConfiguration{MetricsListenAddress: "0"}
	flags.Int32Var(&options.SecurePort, "secure-port", 6443, "")
	flags.Int32Var(&options.HealthzPort, "healthz-port", 6080, "")
	authority := &options.TLSConfig.Dynamic
	flags.StringVar(&authority.SecretNamespace, "dynamic-serving-ca-secret-namespace", "", "")
	flags.StringVar(&authority.SecretName, "dynamic-serving-ca-secret-name", "", "")
	flags.StringSliceVar(&authority.DNSNames, "dynamic-serving-dns-names", nil, "")
	flags.DurationVar(&authority.LeafDuration, "dynamic-serving-leaf-duration", 7*24*time.Hour, "")
	err := flags.Parse(os.Args[1:])

	if err == nil {
		switch name := filepath.Base(os.Args[0]); name {
		case "controller":
			err = runControllers(ctx, *kubeconfig, *namespace)
		case "cainjector":
			err = runCAInjector(ctx, *kubeconfig)
		case "webhook":
			options.KubeConfig = *kubeconfig
			err = runWebhook(ctx, options)
		default:
			err = fmt.Errorf("the program is called `%s`, not `controller`, `cainjector` or `webhook`", name)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func runControllers(ctx context.Context, kubeconfig, namespace string) error {
	options := controller.ContextOptions{Kubeconfig: kubeconfig, KubernetesAPIQPS: 50, KubernetesAPIBurst: 100}
	options.ClusterResourceNamespace = namespace
	options.CertificateRequestMinimumBackoffDuration = time.Hour
	options.CertificateRequestMaximumBackoffDuration = 32 * time.Hour
	factory, err := controller.NewContextFactory(ctx, options)
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	failed := make(chan error)
	var all []controller.Interface
	for name, construct := range controller.Known() {
		one, err := construct(factory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, one)
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	for _, one := range all {
		go func() { failed <- one.Run(5, ctx) }()
	}
	for range all {
		if err := <-failed; err != nil {
			return err
		}
	}
	return nil
}

func runCAInjector(ctx context.Context, kubeconfig string) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{kubernetes.AddToScheme, apiextensions.AddToScheme, api.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	restConfig, err := kube.BuildClientConfig("", kubeconfig)
	if err != nil {
		return err
	}
	// The field manager is the beginning of the user agent.
	restConfig = util.RestConfigWithUserAgent(restConfig, "cainjector")
	manager, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		// Only the metadata of Secrets is cached.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	})
	if err != nil {
		return err
	}
	kinds := map[string]bool{
		cainjector.MutatingWebhookConfigurationName:   true,
		cainjector.ValidatingWebhookConfigurationName: true,
		cainjector.CustomResourceDefinitionName:       true,
	}
	err = cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{EnableCertificatesDataSource: true, EnabledReconcilersFor: kinds})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

func runWebhook(ctx context.Context, options config.WebhookConfiguration) error {
	server, err := webhook.NewCertManagerWebhookServer(logf.Log, options)
	if err != nil {
		return err
	}
	return server.Run(ctx)
}
