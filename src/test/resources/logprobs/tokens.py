"""The tokens of a conversation, as teacher and student of the stand-ins see them."""

import zlib


def word(text):
    return 10 + zlib.crc32(text.encode()) % 50000


def of(messages):
    """The ids, and whether the student learns each: the words of the assistant and the end of its turn."""
    ids, learned = [], []
    for message in messages:
        words = [word(text) for text in message["content"].split()]
        turn = [1, word(message["role"])] + words + [2]
        ids += turn
        own = message["role"] == "assistant"
        learned += [False, False] + [own] * (len(words) + 1)
    return ids, learned


def distribution(seen, top):
    """The most probable tokens after the tokens, with their log-probabilities, the most probable first."""
    digest = zlib.crc32(",".join(map(str, seen)).encode())
    first = digest % 40000
    return [(100000 + first + i, -0.25 - 0.5 * i - (digest % 7) / 100) for i in range(top)]
