"""A stand-in for trl: scripts of the shape that trl's have, which call trainer.train() without a checkpoint."""
