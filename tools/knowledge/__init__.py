"""Knowledge bases: folders, buckets and services that are searched for what they are about."""
