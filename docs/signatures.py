"""Leave private parameters out of the reference."""

import griffe


class PublicParameters(griffe.Extension):
    """Take parameters that begin with an underscore out of every signature."""

    def on_function(self, *, func: griffe.Function, **_: object) -> None:
        """Keep the parameters that a reader may use."""
        func.parameters = griffe.Parameters(
            *(one for one in func.parameters if not one.name.startswith("_"))
        )
