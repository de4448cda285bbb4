"""The page of the worksheets: forms that are computed here, and pictures drawn here. It knows nothing of any tenant."""
