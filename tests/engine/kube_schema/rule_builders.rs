use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "KubeSchemaRuleBuilders")]
#[x_kube(
    validation = Rule::new("self.x == oldSelf.x").message(Message::Expression("'was ' + string(oldSelf.x)".into())).optional_old_self(true),
    validation = Rule::new("self.x != 1").message(Message::Message("not one".into())).reason(Reason::FieldValueForbidden),
    validation = Rule::new("self.x != 2").reason(Reason::FieldValueRequired),
    validation = Rule::new("self.x != 3").reason(Reason::FieldValueDuplicate)
)]
pub struct Spec {
    pub x: u8,
}
