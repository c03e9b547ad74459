"""The machine on Inside in a real browser: stepped, opened, read as a list, left by a link and back, on a phone."""

import re

from playwright.sync_api import expect

from tests.browser import settle
from tests.e2e.address import Visit


def test_the_machine_is_stepped_opened_and_left(visit: Visit) -> None:
    page = visit("/inside?model=adjective-swap&text=I+read+red+books&step=3")
    machine = page.locator(".machine")
    block = machine.locator(".diagram button.main")
    whole = machine.locator(".diagram")
    expect(block.filter(has_text="Cross- attention").or_(block.filter(has_text="Cross-attention"))).to_have_count(2)
    expect(machine.locator(".says")).to_contain_text("reads lis → predicts livres")
    inside = machine.locator(".sheet").evaluate("box => box.scrollWidth <= box.clientWidth")
    assert inside, "two layers each need no scrolling at 1366 pixels"
    bottom = whole.evaluate("box => box.getBoundingClientRect().bottom")
    assert bottom < 768, "and are on the first screen"

    machine.get_by_role("button", name="One step forward").click()
    expect(machine.locator(".says")).to_contain_text("reads livres → predicts rouge")
    expect(whole.locator(".target .tokens .current")).to_have_text(re.compile("4livres"))
    page.wait_for_function("() => new URLSearchParams(location.search).get('step') === '4'")

    # Opened by mouse: the attention into its heads, a head into its parts; every depth has something to say.
    whole.get_by_role("button", name="Cross-attention, decoder layer 1").click()
    expect(machine.locator(".panel h3")).to_have_text("Cross-attention, decoder layer 1")
    expect(machine.locator(".projections figcaption")).to_contain_text("every head has read the whole vector")
    expect(machine.locator(".told a.term", has_text="decoder")).to_have_attribute("href", "#term-decoder")
    whole.get_by_role("button", name="Head 2 of Cross-attention, decoder layer 1").click()
    whole.get_by_role("button", name="Scores ÷ √d_head of head 2").click()
    assert machine.locator(".sheet").evaluate("box => box.scrollWidth <= box.clientWidth"), "an open head fits, too"
    expect(machine.locator(".panel h3")).to_have_text("Cross-attention, decoder layer 1 › head 2 › Scores ÷ √d_head")
    machine.get_by_role("tab", name="Numbers").click()
    expect(machine.locator(".matrix tr")).to_have_count(5)
    expect(machine.locator(".matrix tr").first).to_contain_text("5 <eos>")
    expect(machine.locator(".origin .equation")).to_contain_text("÷ 4")
    machine.locator(".terms button").first.click()  # to the product that was divided
    expect(machine.locator(".panel h3")).to_have_text("Cross-attention, decoder layer 1 › head 2 › Products Q·Kᵀ")
    expect(machine.locator(".terms tr")).to_have_count(13)
    whole.get_by_role("button", name="Scores ÷ √d_head of head 2").click()
    machine.get_by_role("tab", name="Code").click()
    expect(machine.locator(".told mark").first).to_contain_text("scores = query @ key.transpose(-2, -1)")
    page.wait_for_function("() => new URLSearchParams(location.search).get('block')?.endsWith('h2.scores')")

    # By keyboard: Escape closes one level after the other, arrow keys lead on, Enter opens.
    whole.get_by_role("button", name="Scores ÷ √d_head of head 2").press("Escape")
    expect(machine.locator(".panel h3")).to_have_text("Cross-attention, decoder layer 1 › head 2")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(machine.locator(".panel h3")).to_have_text("The whole machine")
    page.wait_for_function("() => !new URLSearchParams(location.search).has('block')")
    settle(page)
    page.keyboard.press("Tab")  # from here on, arrow keys lead from block to block
    embedding = whole.get_by_role("button", name="Embedding, source")
    embedding.focus()
    expect(embedding).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(whole.get_by_role("button", name="Positions, source")).to_be_focused()
    page.keyboard.press("Enter")
    expect(machine.locator(".panel h3")).to_have_text("Positions, source")

    machine.locator("summary").click()
    items = machine.locator("details li")
    expect(items.filter(has_text="Next word")).to_contain_text("rouge")
    assert items.count() == len(set(items.all_text_contents())), "each block of the model is read out once"

    whole.get_by_role("button", name="Masked decoder self-attention, decoder layer 2").click()
    machine.get_by_role("button", name="Open in Attention →").click()
    page.wait_for_url(re.compile(r"/attention\?.*kind=decoder"))
    assert "layer=2" in page.url

    # And back, to the block that is on screen there.
    settle(page)
    page.get_by_role("button", name="See it in the machine").click()
    page.wait_for_url(re.compile(r"/inside\?.*block=decoder\.1\.self_attn"))
    expect(machine.locator(".panel h3")).to_have_text("Masked decoder self-attention, decoder layer 2")
    expect(machine.locator(".says")).to_contain_text("reads livres → predicts rouge")

    # On a phone, whose layout tests/js/machine_plan.test.js has.
    sheet = machine.locator(".sheet")
    whole.get_by_role("button", name="Masked decoder self-attention, decoder layer 2", exact=True).press("Escape")
    expect(machine.locator(".panel h3")).to_have_text("The whole machine")

    page.set_viewport_size({"width": 390, "height": 844})
    expect(whole.locator(".folded")).to_have_count(2)
    assert sheet.evaluate("box => box.scrollWidth <= box.clientWidth")
    expect(page.locator(".st-key-phone_subject")).to_contain_text("adjective-swap · “I read red books”")
    # A link that names no head opens one, with its parts.
    visit("/inside?model=adjective-swap&text=I read red books&step=3&block=decoder.1.cross_attn&follow=target.weights")
    for part, effect in {"scores": "÷ 4", "masked": "0 closed", "weights": "sum 1"}.items():
        expect(machine.locator(f".part.{part} .shape")).to_have_text(effect)
    # The short way explains this attention; the other layer is one stop of it, and all stages are on demand.
    stage = machine.locator(".controls output")
    chosen = machine.get_by_role("combobox", name="Stage").locator("option:checked")
    expect(chosen).to_have_text(re.compile("Softmax"))
    short = int(str(stage.text_content()).split()[-1])
    assert 12 <= short <= 18
    # The picture: the row of weights, the scores that made it, and the sum with its numbers.
    cells = machine.locator(".strips .cells")
    expect(cells.nth(0).locator("[aria-pressed=true]")).to_have_text("4 books")
    expect(machine.locator(".strips .name")).to_contain_text(["Softmax of “lis”", "score", "e^(score − largest)"])
    weight = str(cells.nth(1).locator(".lit").text_content())
    expect(machine.locator(".origin .equation")).to_contain_text(f"{weight} = e^(")
    # Another key that is chosen stays chosen from stage to stage.
    cells.nth(0).get_by_role("button", name="5 <eos>").click()
    machine.get_by_role("button", name="One stage back").click()
    expect(cells.nth(0).locator("[aria-pressed=true]")).to_have_text("5 <eos>")
    expect(machine.locator(".origin .equation")).to_contain_text("÷ 4")
    # So does the number of a vector: after the sum it is that of the result, and the next layer's, too.
    stages = machine.get_by_role("combobox", name="Stage")
    stages.select_option(stages.locator("option", has_text="Output matrix W_O").get_attribute("value"))
    slider = machine.locator(".strips [role=slider]")
    expect(slider).to_have_attribute("aria-valuemax", "64")
    number = int(str(slider.get_attribute("aria-valuenow")))
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuenow", str(number - 1))
    expect(machine.locator(".strips .end").last).to_contain_text("sum")
    expect(machine.locator(".strip .mark")).to_have_count(4)  # the followed number and the three largest products
    machine.get_by_role("button", name="One stage forward").click()
    expect(slider).to_have_attribute("aria-valuenow", str(number - 1))
    machine.locator("button.way").click()
    expect(machine.locator("button.way")).to_have_text("Short way")
    expect(machine.locator(".panel h3")).to_contain_text("Add (residual connection), decoder layer 2")
    assert int(str(stage.text_content()).split()[-1]) > 3 * short
    # A source token goes to the memory, which has its number, and ends as key and value; the step stays in sight.
    machine.locator(".follow select").select_option("source 1")
    expect(machine.locator(".says")).to_have_text("step 3: lis → livres")
    stages.select_option(stages.locator("option", has_text="Memory").get_attribute("value"))
    expect(machine.locator(".strips .name").first).to_contain_text("Memory of “read”")
    expect(machine.locator(".told")).not_to_contain_text("The way of a source token ends here")
    machine.get_by_role("button", name="To the last stage").click()
    expect(machine.locator(".told > p").first).to_contain_text("The way of a source token ends here")
    expect(machine.locator(".strips .name")).to_contain_text(["Values V of “read”", "memory", "W_V"])
    machine.locator(".follow select").select_option("")
    expect(stages).to_be_hidden()
    # Earlier weights read a target that others wrote: nothing says that they chose it.
    said, told = machine.locator(".says"), machine.locator(".told")
    for trained, reads, wrote in ((12, "liest → next token read: ein", False), (300, "liest → predicts ein", True)):
        visit(f"/inside?model=phrases-en-de&text=She is reading a book&step=3&trained_300={trained}")
        expect(said).to_contain_text(reads)
        expect(told).to_contain_text("Chosen: ein" if wrote else "The target is given: its next token, ein, has")
        expect(told).not_to_contain_text("The target is given" if wrote else "Chosen")
        banner = machine.locator(".words .chosen")
        expect(banner).to_contain_text(re.compile(r"^ein\W*\d" if wrote else "^eingiven: "))
        expect(machine.locator(".words .option bdi").get_by_text("ein", exact=True)).to_have_count(1)
        whole.get_by_role("button", name="Next word").click()
        expect(told).to_contain_text("is chosen from these" if wrote else "The target is given: in the next step")
    # Where all heads stand side by side, the number is one of the followed head.
    at = "step=3&block=decoder.1.cross_attn.h3.output&follow=target.output"
    visit(f"/inside?model=adjective-swap&text=I read red books&{at}")
    machine.locator("button.play").press("ArrowRight")
    expect(machine.locator(".origin .equation")).to_contain_text("of head 3")
