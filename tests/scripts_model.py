"""A model of our own of sentences in other scripts, trained in a few seconds until it knows them by heart."""

from pathlib import Path

import torch

from model.architectures import make_model
from model.checkpoint import save_model
from model.config import DataConfig, ModelConfig, TrainConfig
from model.data.batching import collate, encode_pairs
from model.data.task import Example
from model.loss import label_smoothed_cross_entropy
from model.text.tokenizer_kinds import build_tokenizers

HEBREW, ARABIC = "הילד קורא ספר חדש", "الولد يقرأ كتابا جديدا"
CHINESE, JAPANESE = "图书馆 里 的 学生 正在 读 新书", "図書館 の 学生 は 新しい 本 を 読んで います"
UNBROKEN = "图书馆里的学生正在读一本关于历史的新书"  # one token, too long for a label
_HEBREW = """
הילד קורא ספר חדש = the boy reads a new book
הילדה קוראת ספר חדש = the girl reads a new book
הילד אוכל תפוח אדום = the boy eats a red apple
הילדה אוכלת תפוח אדום = the girl eats a red apple
הכלב שותה מים = the dog drinks water
החתול שותה חלב = the cat drinks milk
אני גר בבית גדול = I live in a big house
אני אוהב את New York = I love New York
איפה הספר שלי ? = where is my book ?
ספר חדש = a new book"""
_ARABIC = """
الولد يقرأ كتابا جديدا = the boy reads a new book
البنت تقرأ كتابا جديدا = the girl reads a new book
الولد يأكل تفاحة حمراء = the boy eats a red apple
البنت تأكل تفاحة حمراء = the girl eats a red apple
الكلب يشرب الماء = the dog drinks water
القط يشرب الحليب = the cat drinks milk
أنا أسكن في بيت كبير = I live in a big house
أين كتابي ؟ = where is my book ?"""
_HAN = f"""
{CHINESE} = the student in the library is reading a new book
{JAPANESE} = the student in the library is reading a new book
{UNBROKEN} = the student is reading a book about history
我 喜欢 新书 = I like new books
私 は 新しい 本 が 好き です = I like new books
猫 喝 牛奶 = the cat drinks milk
猫 は 牛乳 を 飲みます = the cat drinks milk"""


def _pairs(lines: str) -> list[tuple[str, str]]:
    return [(source, target) for source, _, target in (line.partition(" = ") for line in lines.split("\n") if line)]


def save_model_of_scripts(folder: Path) -> None:
    """Write a model that reads Hebrew, Arabic, Chinese, Japanese or English, and writes English or Hebrew."""
    torch.manual_seed(1)
    pairs = [*_pairs(_HEBREW), *_pairs(_ARABIC), *_pairs(_HAN), *((en, he) for he, en in _pairs(_HEBREW))]
    data = DataConfig(task="files", src_lang="xx", tgt_lang="xx")
    source, target = build_tokenizers(data, *zip(*pairs, strict=True))
    config = ModelConfig(
        src_vocab_size=len(source), tgt_vocab_size=len(target), d_model=32, d_ff=64, n_encoder_layers=1,
        n_decoder_layers=1, n_encoder_heads=2, n_decoder_heads=2, max_positions=64, dropout=0.0,
    )  # fmt: skip
    model = make_model(config)
    batch = collate(encode_pairs([Example(*pair) for pair in pairs], source, target), range(len(pairs)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(150):
        loss = label_smoothed_cross_entropy(model(batch.src, batch.tgt_in), batch.labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    save_model(
        folder, model.eval(), source, target, data=data, training=TrainConfig(max_steps=150), card="# Scripts\n",
        extra={"results": {"step": 150}},
    )  # fmt: skip
