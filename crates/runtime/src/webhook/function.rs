//! The functions of a webhook, as bounds of generic parameters.

/// An `async fn` of two or three references, whose future can move between threads.
///
/// There is nothing to implement: every `async fn` with the right arguments and result is one, as long as it holds nothing across
/// an `await` that belongs to one thread, such as an `Rc`. A closure is one only where the compiler knows the lifetimes of its
/// arguments, so a function is easier.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no function for this webhook",
    note = "`Defaulting` wants `async fn(&mut T, &Request<T>) -> Result<(), Rejection>`",
    note = "`Validating` wants `async fn(&T, &Request<T>) -> Result<Warnings, Rejection>`, for updates `async fn(&T, &T, &Request<T>)`",
    note = "its future must be `Send`"
)]
pub trait Function<'a, A, R>: Send + Sync + 'static {
    /// What the function returns.
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
