use super::EditError;
pub fn add_mod(text: &str, _name: &str) -> Result<String, EditError> {
    Ok(text.into())
}
pub fn add_list_item(text: &str, _function: &str, _item: &str) -> Result<String, EditError> {
    Ok(text.into())
}
