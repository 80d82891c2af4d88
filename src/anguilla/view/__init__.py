"""Pictures of results: geometry (`scene`), figures (`plots`), a page that moves (`page`)."""
