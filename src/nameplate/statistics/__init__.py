"""Statistical methods: pure functions on arrays, one module per method."""
