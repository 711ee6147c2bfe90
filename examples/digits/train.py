"""Train a classifier on the digits that come with scikit-learn."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

digits = load_digits()
parts = train_test_split(digits.data, digits.target, test_size=0.3, random_state=0)
train_x, test_x, train_y, test_y = parts
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
model.fit(train_x, train_y)
accuracy = np.mean(model.predict(test_x) == test_y)
print(f"accuracy {accuracy:.3f}")
assert accuracy > 0.9
