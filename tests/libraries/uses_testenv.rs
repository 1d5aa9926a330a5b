use opctl_testenv::{Assets, Crd, Environment, Settings};

pub fn run() {
    let crd = std::env::current_dir().unwrap().join("crd.json");
    std::fs::write(&crd, serde_json::to_string(&crate::types::crd()).unwrap()).unwrap();
    let crds = Crd::load(&[crd]).unwrap();
    let Some(folder) = std::env::var_os("KUBEBUILDER_ASSETS") else { return };
    let assets = Assets::in_folder(folder).expect("KUBEBUILDER_ASSETS has etcd and kube-apiserver");
    let mut settings = Settings::new(assets, "environments", "foreign");
    settings.nodes = Some(0);
    let environment = Environment::start(settings).unwrap();
    environment.install(&crds).unwrap();
    println!("{} is served by Kubernetes {}", crds[0].name(), environment.version);
}
