"""The UE study, end to end: Feng and Karmaker, Joint upper & expected value normalization."""
