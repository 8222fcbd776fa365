"""OneFlow behind the adapter Protocol; the framework is imported in `eager` alone, when an Adapter is made."""
