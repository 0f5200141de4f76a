"""Who a person is and how they like their answers, learnt from what they say."""
