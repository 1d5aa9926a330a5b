//! The signatures of a webhook's functions, as bounds of generic parameters.

/// An `async fn` with two or three references as parameters, whose future is `Send`.
///
/// Every `async fn` with the right parameters and result implements it, as long as it holds nothing across an `await`
/// that is not `Send`, such as an `Rc`. For a closure, the compiler must know the lifetimes of its parameters, so a
/// function is easier.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function for this webhook",
    note = "`Defaulting` wants `async fn(&mut T, &Request<T>) -> Result<(), Rejection>`",
    note = "`Validating` wants `async fn(&T, &Request<T>) -> Result<Warnings, Rejection>`, for updates `async fn(&T, &T, &Request<T>)`",
    note = "its future must be `Send`"
)]
pub trait Function<'a, A, R>: Send + Sync + 'static {
    /// The future that the function returns.
    type Future: Future<Output = R> + Send + 'a;

    /// Calls the function.
    fn call(&self, arguments: A) -> Self::Future;
}

impl<'a, A, B, R, F, Fut> Function<'a, (A, B), R> for F
where
    F: Fn(A, B) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send + 'a,
{
    type Future = Fut;

    fn call(&self, (a, b): (A, B)) -> Fut {
        self(a, b)
    }
}

impl<'a, A, B, C, R, F, Fut> Function<'a, (A, B, C), R> for F
where
    F: Fn(A, B, C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send + 'a,
{
    type Future = Fut;

    fn call(&self, (a, b, c): (A, B, C)) -> Fut {
        self(a, b, c)
    }
}
