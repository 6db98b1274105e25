//! The setters that every agent with a program of its own has: which program, further arguments, variables.

/// Writes the setters into the `impl` of an agent with the fields `program`, `args` and `env`. The arguments are the
/// program's usual name, and where further arguments go.
macro_rules! program_setters {
    ($program:literal, arguments: $place:literal) => {
        #[doc = concat!("Starts this program instead of the `", $program, "` on the sandbox's `PATH`.")]
        #[must_use]
        pub fn program(mut self, program: impl Into<std::ffi::OsString>) -> Self {
            self.program = program.into();
            self
        }

        #[doc = concat!("Adds an argument, ", $place, ".")]
        #[must_use]
        pub fn arg(mut self, arg: impl Into<std::ffi::OsString>) -> Self {
            self.args.push(arg.into());
            self
        }

        /// Sets a variable for the program. The sandbox may not set it too; a run may set it anew.
        #[must_use]
        pub fn env(
            mut self,
            key: impl Into<std::ffi::OsString>,
            value: impl Into<std::ffi::OsString>,
        ) -> Self {
            self.env.set(key, value);
            self
        }
    };
}

pub(crate) use program_setters;
