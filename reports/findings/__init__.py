"""What a summary comes to, whoever tells it: the verdict, the divergences by fingerprint, the map of all ops."""
