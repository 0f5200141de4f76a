"""Pictures that code draws of what a report says: charts, timelines, and a map of its sources."""
