"""The study of forecasts: Muwanei et al. 2022, Prediction of the high-cost nDCG measure."""
