"""What a run's records come to once they are summarised: for now the published studies, compared with the run."""
