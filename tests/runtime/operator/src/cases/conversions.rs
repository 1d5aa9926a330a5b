//! A conversion webhook, which is entered in the CRD.

use opctl_runtime::webhook::{Conversion, ConversionError, Spoke, Webhook, carry};

mod v1alpha1 {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1alpha1", kind = "Book", namespaced)]
    pub struct BookSpec {
        pub pages: i32,
    }
}

mod v1 {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1", kind = "Book", namespaced)]
    pub struct BookSpec {
        pub pages: i32,
    }
}

// +opctl:conversion:group=example.com,kind=Book
pub fn webhook() -> Webhook {
    Conversion::<v1::Book>::new(vec![Spoke::of::<v1alpha1::Book>()]).into()
}

impl TryFrom<v1alpha1::Book> for v1::Book {
    type Error = ConversionError;

    fn try_from(old: v1alpha1::Book) -> Result<Self, ConversionError> {
        carry(&old)
    }
}

impl TryFrom<v1::Book> for v1alpha1::Book {
    type Error = ConversionError;

    fn try_from(new: v1::Book) -> Result<Self, ConversionError> {
        carry(&new)
    }
}
