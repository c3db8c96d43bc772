-- One operation in every state, events, deliveries and people, as the schema of version 7 held them.

INSERT INTO public.destinations (name, version, account, environment, paused, chain_seq, chain_hash) VALUES
	('billing', 2, 'acct_demo', 'test', false, 2, '\xc24014f2c179507585ffdc6aede15721ea05a3ac5c99d950f9fea3d42e981f7d'),
	('crm', 2, 'crm-demo', 'test', false, 2, '\x9329c11987f8b23ad75e6647b35ca61fb1244d6bf7b16e54411f3f1fdafcd3e1'),
	('mail', 2, 'mail-demo', 'test', false, 2, '\x10c3c0a7c182ca0d77a6ae90d6da2f126508365268dd41f10d5028e4fe24031c'),
	('partner', 2, 'partner-demo', 'test', false, 2, '\x27a5ed6ac38f21200bc9be68039d49a856eb4ddb8a4ca917e4d21ad65fec16dd'),
	('plain', 2, 'plain-demo', 'test', false, 2, '\xc7e815ad9d14f0e9154d9b8a2e7719690f2c6896b59c618944673cb27e4fa53e'),
	('smtp', 2, 'smtp-demo', 'test', false, 2, '\xda8cb0ac72e33796a34af6fdf133e08027449cd683060a76bb7908badaab98d0');

INSERT INTO public.events (id, source, account, topic, event_key, business_key, payload_hash, event_time, received_at) VALUES
	('evt_01m8mp232mem79gg0t45t3qr16', 'api', 'demo', 'newsletter.coupon', 'evt-1', NULL, '\x0400dfae2867c2aabe33938a85ac0775b287e7cfdb7594f7b6d318b030b7a14a', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.733384+00'),
	('evt_01m8mp2348fq68tdmydp3aqp4j', 'api', 'demo', 'newsletter.coupon', 'evt-2', NULL, '\x03dfc87260132dd34d53a2d925c9f48af56ba1af115f30c65cf12d046dd53369', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.785353+00'),
	('evt_01m8mp234bfp0acpxgk4n30y9n', 'api', 'demo', 'newsletter.coupon', 'evt-3', NULL, '\x6b73a69fbfe8cfa02c20f576abfd99875b33367800e4fbaeca697e50a32ae355', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.788011+00'),
	('evt_01m8mp234df1yvcaz8mmsy8m70', 'shopify-flow', 'demo-shop.myshopify.com', 'campaign-request', 'evt-4', NULL, '\x24c68dcbd220e311eb7b806d8a535a67baccd7fde460a3cfe2592a15d8db9698', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.789687+00'),
	('evt_01m8mp2355em5bc6zwehx4kmby', 'api', 'demo', 'newsletter.coupon', 'evt-5', NULL, '\xfca3c9a931c79fa6384e3ab736bcb415e251a0b98e100bfba4b89ea6857f7ea7', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.813413+00'),
	('evt_01m8mp235ae94r9050fy7324y3', 'api', 'demo', 'newsletter.coupon', 'evt-6', NULL, '\x147f000080a7ea5ebc5600f8e9145048b93197a29844e6b3286f51e1d2bba509', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.81827+00'),
	('evt_01m8mp235mepg9ph73tt9hnzzg', 'api', 'demo', 'newsletter.coupon', 'evt-7', NULL, '\x694184dcd6bff83a4a8e260b1e85d565de1010578608ad682e963327895d0bb9', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.828491+00'),
	('evt_01m8mp2360eamty5rvgng89vjh', 'api', 'demo', 'newsletter.coupon', 'evt-8', NULL, '\xd30a5f596832016770975e042877820f234e6b713a9403a96733ccdb8e1562c9', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.840257+00'),
	('evt_01m8mp2367fk9rt4sh1xxvnp47', 'api', 'demo', 'newsletter.coupon', 'evt-9', NULL, '\xc0241feefa675eb933896d5fcd586b6731c56a3ce9ec38a6f765e4a3996f3df9', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.849155+00'),
	('evt_01m8mp2377ep7r63h17rd2q40z', 'api', 'demo', 'newsletter.coupon', 'evt-10', NULL, '\x40280871b3f63530f94ab39e67534963961684643c79beefbcfcccbf8fc2db18', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.879568+00'),
	('evt_01m8mp237veze8bf1tnpmc1shy', 'api', 'demo', 'newsletter.coupon', 'evt-11', NULL, '\x5dc04e644d81450bff3f25f9bbb99394461ccfb7d9c77854867561c2e62c906f', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.899638+00'),
	('evt_01m8mp2383fjdv5278eybs5zst', 'api', 'demo', 'newsletter.coupon', 'evt-12', NULL, '\xd55fa8455fffbad6910d33a2f423fee551280550d99ca9c28e9e184cd1e602b4', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.90794+00'),
	('evt_01m8mp2388f15sxf54j0q4r2by', 'api', 'demo', 'newsletter.coupon', 'evt-13', NULL, '\x09c622c1cf4cef73c6dec2504a0b3bf69aaeb71314fec4cae045230305d672b1', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.912679+00'),
	('evt_01m8mp238mf0s9a9yt31hqr49q', 'api', 'demo', 'newsletter.coupon', 'evt-14', NULL, '\x8e1d5aba773d98f620baa968667baa7b9b7d5e3ddc25db59d928e010b35f77fe', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.924644+00'),
	('evt_01m8mp2393exy910xbx74zzbk6', 'api', 'demo', 'note.requested', 'evt-15', NULL, '\x2931bf987fa49d884e2b772adab1c5891e22277a539f77bf6f2fd11838bb83a7', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.939598+00'),
	('evt_01m8mp2397e18rqj67y13rb6qn', 'api', 'demo', 'newsletter.coupon', 'evt-16', NULL, '\xfed81e424200cf7a3b3edb73d1490c220cead8ebb7b4f3713366350a4920640f', '2026-11-29 22:15:55+00', '2026-11-29 22:15:55.943148+00');

INSERT INTO public.flows (name, version, paused, chain_seq, chain_hash) VALUES
	('campaign-follow-up', 1, false, 1, '\x2b8288834df940d5796b8a7b4ddeb5d2eee836d6ee0404bfd2a570ea05acd4b3'),
	('goodwill-invoice', 1, false, 1, '\xe165f89a098cf7d2215c886de4621000a6c56517a23f866b28e7cc17ebda1617'),
	('newsletter-coupon', 1, false, 1, '\xf5d5ba643fa3f22ba2645f84f55527e977d18782702995b6af36caa30979d618'),
	('partner-task', 1, false, 1, '\x23d4c284681da58c8359f2c32c2a6217824485bb1c91e0c10fa9cb9a7975e943'),
	('plain-note', 1, false, 1, '\x110d9cbe8763691ebfa681ef19c67076e7c95f6b7b2ee1f248920f7c7abfeac7');

INSERT INTO public.flow_versions (flow, version, hash, source, created_by, created_at) VALUES
	('campaign-follow-up', 1, '\xebbe63b751bcdbe142114bef00d4eb3bb85e295f74f3bbcb68b776fdd3feb8ee', 'flow: campaign-follow-up
title: {en: Campaign follow-up, ja: キャンペーンのフォローアップ, pl: Kontakt po kampanii}
owner: {role: approver, user: lead@example.test}
author: {role: author}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}, required: 1}
trigger: {source: shopify-flow, handle: campaign-request}
run_key: ${event.action_run_id}
inputs:
  type: object
  required: [customer_ref, email, campaign]
  properties:
    customer_ref: {type: string, minLength: 1, maxLength: 100}
    email: {type: string, format: email}
    campaign: {type: string, minLength: 1, maxLength: 100}
    note: {type: string, maxLength: 2000}
outputs: [crm_task_id, message_id]
on_missing_data: draft
stages:
  - key: crm-task
    title: {en: CRM task, ja: CRMタスク, pl: Zadanie w CRM}
    destination: crm
    action: create_task
    content:
      subject: ${"Call " + inputs.customer_ref + " about " + inputs.campaign}
      due: ${timestamp(int(event.time) + 172800)}   # 48 h later, in whole seconds
      contact: ${inputs.email}
      note: ${inputs.?note}
    approval: {approvers: {role: approver}, required: 1, separate_author: true, expires: 72h, due: 4h, remind: 2h, escalate: {role: admin, after: 24h}}
    attempts: {max: 5}
    satisfied_by: confirmed
  - key: email
    title: {en: Mail to the customer, ja: お客様へのメール, pl: E-mail do klienta}
    destination: mail
    action: send
    content:
      to: ${inputs.email}
      subject: {draft: {by: author, brief: One line that names the campaign.}}
      text: {draft: {by: author, brief: Thank the customer and offer a call. No prices.}}
    approval: {approvers: {role: approver}, required: 2, separate_author: true, expires: 72h, due: 8h, remind: 4h}
    attempts: {max: 5}
    satisfied_by: accepted
checklist_extra:
  - key: crm-filter
    ask: {en: Were closed tasks searched too?, ja: 完了済みのタスクも検索しましたか？, pl: Czy sprawdzono też zamknięte zadania?}
due: {draft: 24h, review: 4h, reexecute: 4h}
prompts:
  email: Write to the customer in the language of the request. Friendly, short, no prices.
failure: Look in the CRM first. The mail never goes out before the task is confirmed.
test_cases: [normal, redelivery, timeout-after-success, concurrent, resume, expired-key]
runbook: |
  ## When the task''s outcome is unknown
  1. Holdpoint asks the CRM by our reference. One fitting task confirms it.
  2. Nothing found is not a proof: search closed tasks and the trash too.
  3. Only the ops owner states that nothing happened; a second ops owner permits one more attempt.
', 'system', '2026-11-29 22:15:55.516112+00'),
	('goodwill-invoice', 1, '\x0caf4456cd31f39973c55664dbc24b63436249f347be5d8cb829d446fe0064c5', 'flow: goodwill-invoice
title: {en: Goodwill invoice, ja: 補償の請求書, pl: Faktura kulancyjna}
owner: {role: ops_owner, user: ops@example.test}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}, required: 1}
trigger: {source: api, topic: goodwill.requested}
inputs:
  type: object
  required: [customer, amount, currency]
  properties:
    customer: {type: string, minLength: 1, maxLength: 100}
    email: {type: string, format: email}
    amount: {type: integer, minimum: 0, maximum: 10000000}
    currency: {type: string, pattern: "^[a-z]{3}$"}
    reason: {type: string, maxLength: 500}
outputs: [invoice_id]
on_missing_data: draft
stages:
  - key: invoice
    title: {en: Invoice, ja: 請求書, pl: Faktura}
    destination: billing
    action: create_invoice
    content:
      customer: ${inputs.customer}
      amount: ${inputs.amount}
      currency: ${inputs.currency}
      description: ${"Goodwill - " + inputs.?reason.orValue("as agreed")}
    approval: {approvers: {role: approver}, required: 1, separate_author: true, expires: 48h, due: 4h}
    attempts: {max: 5}
  - key: letter
    title: {en: Letter by mail, ja: お知らせメール, pl: List e-mailem}
    destination: smtp
    action: send
    content:
      to: ${inputs.email}
      subject: {draft: {by: author}}
      text: {draft: {by: author, brief: Say what the invoice is for and that it is settled as goodwill.}}
    approval: {approvers: {role: approver}, required: 1, separate_author: true, expires: 48h, due: 8h}
    attempts: {max: 3}
    satisfied_by: accepted
failure: A time-out is repeated with the same key while it protects; after that the ops owner decides.
test_cases: [normal, timeout-after-success, stored-error, expired-key, changed-content]
runbook: |
  Search billing for events with the operation''s key. Two invoices for one operation are a duplicate: void one there and record it here.
', 'system', '2026-11-29 22:15:55.516112+00'),
	('newsletter-coupon', 1, '\x1e94628a5689fe86394eeb61b213ef13e829af3c481a596ac81e1b72b8b6fdf5', 'flow: newsletter-coupon
title: {en: Newsletter coupon, ja: ニュースレタークーポン, pl: Kupon z newslettera}
owner: {role: approver, user: second@example.test}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}, required: 1}
trigger: {source: api, topic: newsletter.coupon}
run_key: ${"coupon:" + string(event.data.code)}
inputs:
  type: object
  required: [code, percent_off]
  properties:
    code: {type: string, pattern: "^[A-Z0-9][A-Z0-9-]{2,60}$"}
    percent_off: {type: integer, minimum: 1, maximum: 100}
    name: {type: string, maxLength: 40}
outputs: [coupon_id]
on_missing_data: refuse
stages:
  - key: coupon
    title: {en: Coupon, ja: クーポン, pl: Kupon}
    destination: billing
    action: create_coupon
    content:
      code: ${inputs.code}
      percent_off: ${inputs.percent_off}
      name: ${inputs.?name.orValue(inputs.code)}
    approval: {approvers: {role: approver}, required: 1, separate_author: true, expires: 7d, due: 24h}
    attempts: {max: 5}
failure: The code is unique for ever. "Already exists" is looked up; a coupon without our operation ID is not ours.
test_cases: [normal, already-exists-ours, already-exists-foreign, redelivery]
runbook: |
  A coupon with this code that does not carry our operation ID belongs to somebody else: ask who made it before anything is repeated.
', 'system', '2026-11-29 22:15:55.516112+00'),
	('partner-task', 1, '\x1594651378c262122aa2c5f52d43bc235b3af9b6adcba400d9277d3beb19a494', 'flow: partner-task
title: {en: Task for the partner, ja: パートナーへのタスク, pl: Zadanie dla partnera}
owner: {role: ops_owner, user: ops@example.test}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}, required: 1}
trigger: {source: api, topic: partner.task}
inputs:
  type: object
  required: [subject]
  properties:
    subject: {type: string, minLength: 1, maxLength: 200}
outputs: [partner_task_id]
on_missing_data: draft
stages:
  - key: task
    title: {en: Partner''s task, ja: パートナーのタスク, pl: Zadanie partnera}
    destination: partner
    action: create_task
    content:
      subject: ${inputs.subject}
      due: ${timestamp(int(event.time) + 172800)}   # 48 h later, in whole seconds
    approval: {approvers: {role: approver}, required: 1, separate_author: true, expires: 72h, due: 4h}
    attempts: {max: 5}
due: {review: 4h}
failure: A program of the partner''s team performs it. What it does not report is looked up by our reference.
test_cases: [normal, timeout-after-success, lost-report]
runbook: |
  Ask the team that runs the program whether it stands still before anything is repeated.
', 'system', '2026-11-29 22:15:55.516112+00'),
	('plain-note', 1, '\xa685d6efb85aa474d66c1d20335ba49516861de5ab20ba887642ba08f9055abe', 'flow: plain-note
title: {en: Plain note, ja: 保護なしのメモ, pl: Zwykła notatka}
owner: {role: ops_owner, user: ops2@example.test}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}, required: 1}
trigger: {source: api, topic: note.requested}
inputs:
  type: object
  required: [topic]
  properties:
    topic: {type: string, minLength: 1, maxLength: 200}
    text: {type: string, maxLength: 10000}
outputs: [note_id]
on_missing_data: draft
stages:
  - key: note
    title: {en: Note, ja: メモ, pl: Notatka}
    destination: plain
    action: create_thing
    content:
      topic: ${inputs.topic}
      text: {draft: {by: author}}
    approval: {approvers: {role: approver}, required: 1, separate_author: true, expires: 72h, due: 4h}
    attempts: {max: 3}
checklist_extra:
  - key: asked-them
    ask:
      en: Did the people there confirm that they see no such note?
      ja: 相手先に、該当するメモがないことを確認しましたか？
      pl: Czy tamtejszy zespół potwierdził, że nie widzi takiej notatki?
failure: Nothing protects this service and it cannot be asked. Every unknown outcome goes to a person.
test_cases: [normal, timeout-before, timeout-after-success, reexecution]
runbook: |
  Call the people who run the service. Write down who said what, and when.
', 'system', '2026-11-29 22:15:55.516112+00');

INSERT INTO public.runs (id, flow, flow_version, run_key_hash, label, event_id, state, rev, held, inputs, chain_seq, chain_hash, created_at) VALUES
	('run_1dnm3fqk267jz3nnc9tprsq6g8', 'newsletter-coupon', 1, '\xd627f7b705d083f33dd3efef65eead4dce503a41c7657f8bdd9653909d57411d', 'coupon:CODE-1', 'evt_01m8mp232mem79gg0t45t3qr16', 'open', 1, false, '{"code":"CODE-1","name":"Coupon 1","percent_off":10}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.733539+00'),
	('run_2xexk62n57wvxnz5pemsscg679', 'newsletter-coupon', 1, '\x2124a993621f8a5a9798c8ee64ceb3e39fdf27f7876e8d6ff9bf130f194f6a79', 'coupon:CODE-2', 'evt_01m8mp2348fq68tdmydp3aqp4j', 'open', 1, false, '{"code":"CODE-2","name":"Coupon 2","percent_off":10}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.785386+00'),
	('run_1bm3w2rcjkdjex0tj4f81eard9', 'newsletter-coupon', 1, '\x3bdb011fe5cd0da20851c362a827b8a50d5db93d9f2cf2c7770ba43fbcaf4393', 'coupon:CODE-3', 'evt_01m8mp234bfp0acpxgk4n30y9n', 'open', 1, false, '{"code":"CODE-3","name":"Coupon 3","percent_off":10}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.788081+00'),
	('run_5znnb6m3gcwbzp2v1572ntf06v', 'campaign-follow-up', 1, '\xb593601c4ccc93e50fafc58b6c6f6107f35efc8db3f632ad2e3de90f7a9e0d77', 'run-4', 'evt_01m8mp234df1yvcaz8mmsy8m70', 'open', 3, false, '{"campaign":"Spring","customer_ref":"C-4","email":"c4@example.test"}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.789724+00'),
	('run_1n04gaq16vcfp52td4erew81r1', 'newsletter-coupon', 1, '\xba525ee4ee89b7eaeea8646ad8a23f9248a43107e6d8a9d03d69249ba2e7da8f', 'coupon:CODE-5', 'evt_01m8mp2355em5bc6zwehx4kmby', 'open', 1, false, '{"code":"CODE-5","name":"Coupon 5","percent_off":10}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.81346+00'),
	('run_7j9kvc86pxva4azeysq68h3jdg', 'newsletter-coupon', 1, '\xd204d17b65dcd47ef82e0a063cf16305b24b2c0e019d272da740cef0ab412795', 'coupon:CODE-6', 'evt_01m8mp235ae94r9050fy7324y3', 'open', 1, false, '{"code":"CODE-6","name":"Coupon 6","percent_off":10}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.818304+00'),
	('run_2b7sjrs77xbj451zewwy6m8enc', 'newsletter-coupon', 1, '\x82b32c037382741b82b6443945678cb6fa7844545404fd00e74fe135be5f736f', 'coupon:CODE-7', 'evt_01m8mp235mepg9ph73tt9hnzzg', 'open', 1, false, '{"code":"CODE-7","name":"Coupon 7","percent_off":10}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.828528+00'),
	('run_4b06sp8jdk4tbbsbmcg617q0kt', 'newsletter-coupon', 1, '\x6bf23eba157710094b7e8299184047659e5d2e116ed2176ea90fa1cfad6421a2', 'coupon:CODE-8', 'evt_01m8mp2360eamty5rvgng89vjh', 'open', 1, false, '{"code":"CODE-8","name":"Coupon 8","percent_off":10}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.840304+00'),
	('run_6d76fq7qj69b40x30k9s5d75yr', 'newsletter-coupon', 1, '\x8d8e25ba52777598687173451fb787954c514608fa1f7f04fbbaf8e892d09fa4', 'coupon:CODE-9', 'evt_01m8mp2367fk9rt4sh1xxvnp47', 'open', 1, false, '{"code":"CODE-9","name":"Coupon 9","percent_off":10}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.849219+00'),
	('run_6tgpfrh4vs8jm50j8tjqadvrdm', 'newsletter-coupon', 1, '\x81d9f345eba439f1eeb07a7c720ed316b554062523226c63bf35bc742eca0a7a', 'coupon:CODE-10', 'evt_01m8mp2377ep7r63h17rd2q40z', 'open', 1, false, '{"code":"CODE-10","name":"Coupon 10","percent_off":10}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.879622+00'),
	('run_0rs6s1fqyvam26tet9tpzsk1h8', 'newsletter-coupon', 1, '\x1e2ea6b2498f47d4b968621b00f798847ab9a148110a1d8b9a08f7be3ece4473', 'coupon:CODE-11', 'evt_01m8mp237veze8bf1tnpmc1shy', 'completed', 2, false, '{"code":"CODE-11","name":"Coupon 11","percent_off":10}', 1, '\x60979af7298aa2991699f8247351da163029258caa73f14419d5a7bdcea14680', '2026-11-29 22:15:55.89969+00'),
	('run_0z7fybb8hvqsjzvn6w9bmyfnyr', 'newsletter-coupon', 1, '\x078ab8ffa5741961bb99970b777d2e881d0c851e5af640a576da8a06e954f3c3', 'coupon:CODE-12', 'evt_01m8mp2383fjdv5278eybs5zst', 'blocked', 2, false, '{"code":"CODE-12","name":"Coupon 12","percent_off":10}', 1, '\x8d4645e148975cfe1252cedbdcc1d919bc162d48a6ae38b4227fa3a84fc380fc', '2026-11-29 22:15:55.907977+00'),
	('run_04b6c8hpjxaec5xpn3st5yhp0s', 'newsletter-coupon', 1, '\xbdc15e8c7ff60eea5c7808062b003c68197092f1f816a461f8d2834c2bd56a2a', 'coupon:CODE-13', 'evt_01m8mp2388f15sxf54j0q4r2by', 'blocked', 2, false, '{"code":"CODE-13","name":"Coupon 13","percent_off":10}', 1, '\x6c6e03a3012c5505ebc28bca616d3a0c3381b118bf7f7edca1897f3d89d7497c', '2026-11-29 22:15:55.912714+00'),
	('run_0cw4s9d027r5ye30fch34gq4pb', 'newsletter-coupon', 1, '\x6025a9baab5e0d9282df22015b757f11b8efecf2048485febc4508df47adc6ec', 'coupon:CODE-14', 'evt_01m8mp238mf0s9a9yt31hqr49q', 'blocked', 2, false, '{"code":"CODE-14","name":"Coupon 14","percent_off":10}', 1, '\xa4f473de585bce745225d343f66a30fe7b86ac640454c0f87ffbf4d071dba779', '2026-11-29 22:15:55.924685+00'),
	('run_468we83r0ygq7fvqc0jwkq5t6t', 'plain-note', 1, '\x9cd91f736b935bbf0b7982734dc2a2909c407b643da2f7b85d2bac0ee3b10e0d', 'api demo note.requested evt-15', 'evt_01m8mp2393exy910xbx74zzbk6', 'open', 1, false, '{"topic":"Topic 15"}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.939633+00'),
	('run_3fa78zcncfnx71gs1rn66zmcvp', 'newsletter-coupon', 1, '\xa33999c4bca3df333d7d8f7d7359afc1807af329c954269ca9ec1b3f8650e2ba', 'coupon:CODE-16', 'evt_01m8mp2397e18rqj67y13rb6qn', 'open', 1, false, '{"code":"CODE-16","name":"Coupon 16","percent_off":10}', 0, '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-29 22:15:55.943184+00');

INSERT INTO public.operations (id, run_id, flow, flow_version, stage, stage_no, stages, item_key, replacement, replaces, destination, action, effect_type, account, environment, title, adopted, state, revision, version_id, version_no, clearance_id, attempts_used, attempts_max, attempts_ever, fence, open_attempt, unsettled, ever_unproven, key_generation, key_first, stored_error, key_answered, last_dispatch, last_send, stated, disputed, stopped, deliberate, retry_at, lookup_at, misses, last_lookup, last_lookup_at, request_id, case_round, next_kind, next_role, next_user, next_system, next_at, next_since, hold_until, expires_at, paused, target_reference, target_url, confirmed_by, duplicate, delivery, remedy, deliver_by, chain_seq, chain_hash, created_at, updated_at, source) VALUES
	('op_4qmgdg1tjb6yvhxsqp6d0a864v', 'run_1dnm3fqk267jz3nnc9tprsq6g8', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 1', false, 'draft', 5, 'ver_01m8mp2346eyn9xbx3cpqt4sz9', 2, NULL, 1, 5, 1, 1, NULL, 0, false, 1, '2026-11-29 22:15:55.769191+00', false, false, '2026-11-29 22:15:55.769191+00', '2026-11-29 22:15:55.776504+00', false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, 'complete', 'author', NULL, false, '2026-11-30 22:15:55.781385+00', '2026-11-29 22:15:55.781385+00', NULL, NULL, false, NULL, NULL, NULL, '', '', '', NULL, 7, '\x837458c3ec43c193ce2ee0b643fb143a661a8f3a966a4b7d61a3cc4f5c18594b', '2026-11-29 22:15:55.733539+00', '2026-11-29 22:15:55.781385+00', 'api'),
	('op_5a580wbg81khexmfv54faqy2k0', 'run_2xexk62n57wvxnz5pemsscg679', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 2', false, 'pending_approval', 1, 'ver_01m8mp2349fdyr5afj5kgpwf07', 1, NULL, 0, 5, 0, 0, NULL, 0, false, 1, NULL, false, false, NULL, NULL, false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, 'approve', 'approver', NULL, false, '2026-11-30 22:15:55.785386+00', '2026-11-29 22:15:55.785386+00', NULL, NULL, false, NULL, NULL, NULL, '', '', '', NULL, 1, '\xc36721788db3bcf79217ebd81243516da871ba3a3be5233819adbdb5a33c2a17', '2026-11-29 22:15:55.785386+00', '2026-11-29 22:15:55.785386+00', 'api'),
	('op_4e1rrh9qp43fxrf0b4fq7g1jvb', 'run_1bm3w2rcjkdjex0tj4f81eard9', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 3', false, 'pending_approval', 1, 'ver_01m8mp234cetxrf45bvwcwbn94', 1, NULL, 0, 5, 0, 0, NULL, 0, false, 1, NULL, false, false, NULL, NULL, false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, 'approve', 'approver', NULL, false, '2026-11-30 22:15:55.788081+00', '2026-11-29 22:15:55.788081+00', NULL, NULL, false, NULL, NULL, NULL, '', '', '', NULL, 1, '\xc90ba8e5f224ecd0d09e655450ceed72184b1d499f6fcb6a154785b95e1994c1', '2026-11-29 22:15:55.788081+00', '2026-11-29 22:15:55.788081+00', 'api'),
	('op_7fkd1jqwqwnpwaxtzb1r90z4ha', 'run_5znnb6m3gcwbzp2v1572ntf06v', 'campaign-follow-up', 1, 'crm-task', 0, 2, '', 0, NULL, 'crm', 'create_task', 'task', 'crm-demo', 'test', 'Call C-4 about Spring', false, 'pending_approval', 1, 'ver_01m8mp234gej78epn3ah7ak3tx', 1, NULL, 0, 5, 0, 0, NULL, 0, false, 1, NULL, false, false, NULL, NULL, false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, 'approve', 'approver', NULL, false, '2026-11-30 02:15:55.789724+00', '2026-11-29 22:15:55.789724+00', NULL, NULL, false, NULL, NULL, NULL, '', '', '', NULL, 1, '\xc7041fc05b7cb71108cb662118f9b40d82ed57f10abcb26762926901d4e7a42b', '2026-11-29 22:15:55.789724+00', '2026-11-29 22:15:55.789724+00', 'shopify-flow'),
	('op_5xaex9y8tsq9vge61aseae1j2a', 'run_5znnb6m3gcwbzp2v1572ntf06v', 'campaign-follow-up', 1, 'email', 1, 2, '', 0, NULL, 'mail', 'send', 'email', 'mail-demo', 'test', 'Spring 1', false, 'waiting', 4, 'ver_01m8mp234rfhrtd034f29tzh70', 2, 'clr_01m8mp2352ew4sdy3e9hthvpzp', 0, 5, 0, 0, NULL, 0, false, 1, NULL, false, false, NULL, NULL, false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, 'earlier_stage', 'approver', NULL, false, '2026-11-30 02:15:55.810223+00', '2026-11-29 22:15:55.810223+00', NULL, '2026-12-02 22:15:55.807691+00', false, NULL, NULL, NULL, '', '', '', NULL, 5, '\x63c7b2e95ecc1c0db6d7f670b349a5341b0913790f502cbdc9efa7eaebb0f898', '2026-11-29 22:15:55.789724+00', '2026-11-29 22:15:55.810223+00', 'shopify-flow'),
	('op_4q1nqye6jmcjye89ndtgebh468', 'run_1n04gaq16vcfp52td4erew81r1', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 5', false, 'ready', 2, 'ver_01m8mp2355ff0968v024cddfh1', 1, 'clr_01m8mp2357fgaa98s0dydn6c2d', 0, 5, 0, 0, NULL, 0, false, 1, NULL, false, false, NULL, NULL, false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, 'take', '', NULL, true, '2026-11-29 22:15:55.81559+00', '2026-11-29 22:15:55.81559+00', NULL, '2026-12-06 22:15:55.81559+00', false, NULL, NULL, NULL, '', '', '', NULL, 2, '\x63292ca7187d1814368cbe363924f9ea0a4047ce6e6d5a654849ccf6f56a762b', '2026-11-29 22:15:55.81346+00', '2026-11-29 22:15:55.81559+00', 'api'),
	('op_0n1cf6f3zazrc10esjxbdyed06', 'run_7j9kvc86pxva4azeysq68h3jdg', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 6', false, 'in_progress', 3, 'ver_01m8mp235af55rqcwydb25qp2c', 1, 'clr_01m8mp235cfkys48b72wz5t5ef', 1, 5, 1, 1, 'att_01m8mp235je84b5ahq1gkymh54', 0, false, 1, '2026-11-29 22:15:55.825819+00', false, false, '2026-11-29 22:15:55.825819+00', NULL, false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, 'finish', '', NULL, true, '2026-11-29 22:16:55.825819+00', '2026-11-29 22:15:55.825819+00', NULL, '2026-12-06 22:15:55.820607+00', false, NULL, NULL, NULL, '', '', '', NULL, 4, '\xec891d6df2e51e1123b7a398d2f16bd9b4b47049071f514fb8f92273af6ce7d8', '2026-11-29 22:15:55.818304+00', '2026-11-29 22:15:55.825819+00', 'api'),
	('op_5ghh29qqrmfsncqscenb4wf5r7', 'run_2b7sjrs77xbj451zewwy6m8enc', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 7', false, 'retry_scheduled', 4, 'ver_01m8mp235mfm8bbpnb0dknf1vb', 1, 'clr_01m8mp235pffctx4c10dq0aavc', 1, 5, 1, 1, NULL, 0, false, 1, '2026-11-29 22:15:55.832192+00', false, false, '2026-11-29 22:15:55.832192+00', '2026-11-29 22:15:55.83777+00', false, false, false, false, '2026-11-29 23:15:55.83777+00', NULL, 0, NULL, NULL, NULL, 0, 'try', '', NULL, true, '2026-11-29 23:15:55.83777+00', '2026-11-29 22:15:55.83777+00', NULL, '2026-12-06 22:15:55.830581+00', false, NULL, NULL, NULL, '', '', '', NULL, 5, '\x154b8d41e1e35390d5a8b6a9e58ca9dfa5054cb77dcf13d32c7dff095f54d585', '2026-11-29 22:15:55.828528+00', '2026-11-29 22:15:55.83777+00', 'api'),
	('op_22x4mc535avmxpcqm0sbge5s4p', 'run_4b06sp8jdk4tbbsbmcg617q0kt', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 8', false, 'unknown', 4, 'ver_01m8mp2360f66bga31kmeph8y1', 1, 'clr_01m8mp2362f7v89n9byxea47sw', 1, 5, 1, 1, NULL, 1, true, 1, '2026-11-29 22:15:55.843944+00', false, false, '2026-11-29 22:15:55.843944+00', '2026-11-29 22:15:55.845557+00', false, false, false, false, '2026-11-29 22:16:05.845557+00', '2026-11-29 22:15:55.845557+00', 0, NULL, NULL, NULL, 0, 'check', '', NULL, true, '2026-11-29 22:15:55.845557+00', '2026-11-29 22:15:55.845557+00', NULL, '2026-12-06 22:15:55.84243+00', false, NULL, NULL, NULL, '', '', '', NULL, 5, '\x01bf4cc181908e6a8d959de81090cc1214d1f93e8f60e487440637b25eacc3eb', '2026-11-29 22:15:55.840304+00', '2026-11-29 22:15:55.845557+00', 'api'),
	('op_7nevs6k18ecx4r65eqtwqj6sn0', 'run_6d76fq7qj69b40x30k9s5d75yr', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 9', false, 'review', 4, 'ver_01m8mp2369f2jaab1qkm6vdjys', 1, 'clr_01m8mp236qe3n8hjh0e4xqh6w7', 1, 5, 1, 1, NULL, 1, true, 1, '2026-11-29 22:15:55.869846+00', false, false, '2026-11-29 22:15:55.869846+00', '2026-11-29 22:15:55.876719+00', false, false, false, false, NULL, '2026-11-29 22:15:55.876719+00', 0, NULL, NULL, NULL, 0, 'reconcile', 'ops_owner', NULL, false, '2026-11-30 02:15:55.876719+00', '2026-11-29 22:15:55.876719+00', NULL, '2026-12-06 22:15:55.862721+00', false, NULL, NULL, NULL, '', '', '', NULL, 6, '\xfc8cdfa860faa1e856ec206d9d8bfbee933c5f7a9a86d29b66ea9deabc4b7770', '2026-11-29 22:15:55.849219+00', '2026-11-29 22:15:55.876719+00', 'api'),
	('op_2jpzdxyeqf3037sn3sxd1asq99', 'run_6tgpfrh4vs8jm50j8tjqadvrdm', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 10', false, 'reexecution_requested', 5, 'ver_01m8mp2377ftna0ywmeybmf7pg', 1, 'clr_01m8mp237afgfty9w598q63yj4', 1, 5, 1, 1, NULL, 0, true, 1, '2026-11-29 22:15:55.884618+00', false, false, '2026-11-29 22:15:55.884618+00', '2026-11-29 22:15:55.886522+00', true, false, false, false, NULL, '2026-11-29 22:15:55.886522+00', 0, NULL, NULL, 'req_01m8mp237qej6rbec4dj5d7601', 0, 'decide_reexecution', 'ops_owner', NULL, false, '2026-11-30 02:15:55.891498+00', '2026-11-29 22:15:55.891498+00', NULL, '2026-12-06 22:15:55.882467+00', false, NULL, NULL, NULL, '', '', '', NULL, 9, '\x4ed6c87665ec17bac6d553c8d03818a18cc84ef4a296e5f5a63e447caf8f85cb', '2026-11-29 22:15:55.879622+00', '2026-11-29 22:15:55.891498+00', 'api'),
	('op_09chq6zxpq5m4t2hxbcqxr33mr', 'run_0rs6s1fqyvam26tet9tpzsk1h8', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 11', false, 'confirmed', 4, 'ver_01m8mp237vfwqsghawrg6j6xp8', 1, 'clr_01m8mp237yenxt1h83b7y6j041', 1, 5, 1, 1, NULL, 0, true, 1, '2026-11-29 22:15:55.903736+00', false, false, '2026-11-29 22:15:55.903736+00', '2026-11-29 22:15:55.905231+00', false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, '', '', NULL, false, NULL, '2026-11-29 22:15:55.905231+00', NULL, NULL, false, 'there-op_09chq6zxpq5m4t2hxbcqxr33mr', NULL, 'destination', '', '', '', NULL, 5, '\xa3f40acc408d1d5f55024a283051d17bdeeaaed6885250371e1c3d48d7165ef4', '2026-11-29 22:15:55.89969+00', '2026-11-29 22:15:55.905231+00', 'api'),
	('op_1dv3bnrdgyac9zr90xfkbay2wy', 'run_0z7fybb8hvqsjzvn6w9bmyfnyr', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 12', false, 'rejected', 2, 'ver_01m8mp2384ek3td65gk0tz99km', 1, NULL, 0, 5, 0, 0, NULL, 0, false, 1, NULL, false, false, NULL, NULL, false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, '', '', NULL, false, NULL, '2026-11-29 22:15:55.910113+00', NULL, NULL, false, NULL, NULL, NULL, '', '', '', NULL, 2, '\xed53eea3e282dda876b1e8df66f82a4afd007082b5ea86d7ebe09c5605c302f6', '2026-11-29 22:15:55.907977+00', '2026-11-29 22:15:55.910113+00', 'api'),
	('op_7x50at0m1gpv9md7e3h7zqvt71', 'run_04b6c8hpjxaec5xpn3st5yhp0s', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 13', false, 'cancelled', 5, 'ver_01m8mp2389e2mbg8ev1r5ce8pn', 1, NULL, 1, 5, 1, 1, NULL, 0, false, 1, '2026-11-29 22:15:55.916488+00', false, false, '2026-11-29 22:15:55.916488+00', '2026-11-29 22:15:55.918527+00', false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, '', '', NULL, false, NULL, '2026-11-29 22:15:55.921792+00', NULL, NULL, false, NULL, NULL, NULL, '', '', '', NULL, 6, '\x388a137519b62d051b374f1dac9284f5ccc6b35b2858db8d2a9e3961d93761e3', '2026-11-29 22:15:55.912714+00', '2026-11-29 22:15:55.921792+00', 'api'),
	('op_16xkhm7ng5z68ebngjhpkqqktj', 'run_0cw4s9d027r5ye30fch34gq4pb', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 14', false, 'not_executed', 5, 'ver_01m8mp238mfwd8s89ys6k0mv3p', 1, NULL, 1, 5, 1, 1, NULL, 0, true, 1, '2026-11-29 22:15:55.928535+00', false, false, '2026-11-29 22:15:55.928535+00', '2026-11-29 22:15:55.930029+00', true, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, '', '', NULL, false, NULL, '2026-11-29 22:15:55.934562+00', NULL, NULL, false, NULL, NULL, NULL, '', '', '', NULL, 9, '\x56814651bd227cf63f5ba5584421715782c9ed70cdef67c99f70c0f46c703162', '2026-11-29 22:15:55.924685+00', '2026-11-29 22:15:55.934562+00', 'api'),
	('op_4f6znxm7crqajz036d2hkkvpq2', 'run_468we83r0ygq7fvqc0jwkq5t6t', 'plain-note', 1, 'note', 0, 1, '', 0, NULL, 'plain', 'create_thing', 'note', 'plain-demo', 'test', 'Topic 15', false, 'draft', 1, 'ver_01m8mp2395f2vswpva43k4ns6w', 1, NULL, 0, 3, 0, 0, NULL, 0, false, 1, NULL, false, false, NULL, NULL, false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, 'complete', 'author', NULL, false, '2026-11-30 22:15:55.939633+00', '2026-11-29 22:15:55.939633+00', NULL, NULL, false, NULL, NULL, NULL, '', '', '', NULL, 1, '\x81d589a2dbc8ad81f8afadaafebe0292b30eb6ab9fb2e047a19b16b10406e355', '2026-11-29 22:15:55.939633+00', '2026-11-29 22:15:55.939633+00', 'api'),
	('op_62sf5rwqmee8x1t3qs4ffcwhxm', 'run_3fa78zcncfnx71gs1rn66zmcvp', 'newsletter-coupon', 1, 'coupon', 0, 1, '', 0, NULL, 'billing', 'create_coupon', 'coupon', 'acct_demo', 'test', 'Coupon 16', false, 'pending_approval', 1, 'ver_01m8mp2397eyt8g68q6560r2zv', 1, NULL, 0, 5, 0, 0, NULL, 0, false, 1, NULL, false, false, NULL, NULL, false, false, false, false, NULL, NULL, 0, NULL, NULL, NULL, 0, 'approve', 'approver', NULL, false, '2026-11-30 22:15:55.943184+00', '2026-11-29 22:15:55.943184+00', NULL, NULL, false, NULL, NULL, NULL, '', '', '', NULL, 1, '\xbde7e102a4f28deb0e162abd40da6f65a8d0b26afeb9869b60c3d4baef19ce1c', '2026-11-29 22:15:55.943184+00', '2026-11-29 22:15:55.943184+00', 'api');

INSERT INTO public.content_versions (id, operation_id, number, author_kind, author_id, prompted_by, model, note, missing, hash, account, environment, credential, flow_version, destination_version, created_at) VALUES
	('ver_01m8mp232zfd0rjeesndadrb5q', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\xf53f144b38702afb49a7c424be46c5e23d573d540defaf17bfb5db27738af76f', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.733539+00'),
	('ver_01m8mp2346eyn9xbx3cpqt4sz9', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 2, 'person', 'usr_01m8mp22tceyjarczsgr6vyhht', NULL, '', '', '{code,name}', NULL, 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.781385+00'),
	('ver_01m8mp2349fdyr5afj5kgpwf07', 'op_5a580wbg81khexmfv54faqy2k0', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\xe9981c3f3610e83dfc19a10e60cfafd1827552c0ba7c29d6d20f3ee85a7b4eab', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.785386+00'),
	('ver_01m8mp234cetxrf45bvwcwbn94', 'op_4e1rrh9qp43fxrf0b4fq7g1jvb', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\x5a048dfa29eb714fe7de88616e74b629f8744e171e077e254d84c7ef32bb92e1', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.788081+00'),
	('ver_01m8mp234kf0trkrd5j0dawps5', 'op_5xaex9y8tsq9vge61aseae1j2a', 1, 'flow', 'campaign-follow-up', NULL, '', '', '{subject,text}', NULL, 'mail-demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.789724+00'),
	('ver_01m8mp234gej78epn3ah7ak3tx', 'op_7fkd1jqwqwnpwaxtzb1r90z4ha', 1, 'flow', 'campaign-follow-up', NULL, '', '', '{}', '\x842bae9f3407d114731c0e1fba388959e8f054a64be314f83194951fe53bc1e0', 'crm-demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.789724+00'),
	('ver_01m8mp234rfhrtd034f29tzh70', 'op_5xaex9y8tsq9vge61aseae1j2a', 2, 'person', 'usr_01m8mp22tceyjarczsgr6vyhht', NULL, '', '', '{}', '\x37014878d285dc488a6039e48b56b8d9b65200f6257f61684bcfdbf942614d87', 'mail-demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.799408+00'),
	('ver_01m8mp2355ff0968v024cddfh1', 'op_4q1nqye6jmcjye89ndtgebh468', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\x87f8cf8b00bd41aa325db89031f347abe08b931150177821a75d658247886e87', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.81346+00'),
	('ver_01m8mp235af55rqcwydb25qp2c', 'op_0n1cf6f3zazrc10esjxbdyed06', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\x5681d4b89bd7bf79d6497e75404d41c422e01bb08ebc1cb02199d6c1a1c429a0', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.818304+00'),
	('ver_01m8mp235mfm8bbpnb0dknf1vb', 'op_5ghh29qqrmfsncqscenb4wf5r7', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\x60f9a65ec8667925c75e65a45a7aa51e2f5b41dcf0bb5d6c1332b74c1ef1ab4d', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.828528+00'),
	('ver_01m8mp2360f66bga31kmeph8y1', 'op_22x4mc535avmxpcqm0sbge5s4p', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\xd707b7e043552756e7b8c99455a53db48709d144d445d1c4fdbc07bbae49b11d', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.840304+00'),
	('ver_01m8mp2369f2jaab1qkm6vdjys', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\xa1145f0a78a25747405fe3dad0a3a13fc9c41ddf1159ed1487fef2e45dd4ca08', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.849219+00'),
	('ver_01m8mp2377ftna0ywmeybmf7pg', 'op_2jpzdxyeqf3037sn3sxd1asq99', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\xec76330cc4db9f0c5030df798987c716bac098f3a2bc7afa6b64db45f8b7af18', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.879622+00'),
	('ver_01m8mp237vfwqsghawrg6j6xp8', 'op_09chq6zxpq5m4t2hxbcqxr33mr', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\xd5b43ff0eed727205f7e2d99e02cf6e51059ce78a718558b52e7e9b48e94641e', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.89969+00'),
	('ver_01m8mp2384ek3td65gk0tz99km', 'op_1dv3bnrdgyac9zr90xfkbay2wy', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\x63244ecf6df8a11bb1e6b8b22637f411c4b42698ce9aec5832a0dbeac199a6a3', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.907977+00'),
	('ver_01m8mp2389e2mbg8ev1r5ce8pn', 'op_7x50at0m1gpv9md7e3h7zqvt71', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\xcd4391eb061fa261a2572c3f79d824a9d9089f3fef96bc6cf15b9d6ff1b7e6d8', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.912714+00'),
	('ver_01m8mp238mfwd8s89ys6k0mv3p', 'op_16xkhm7ng5z68ebngjhpkqqktj', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\xf52559c9f253ad0b22ec498e7278f366ef3a220834df6107dbd548d72892a46a', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.924685+00'),
	('ver_01m8mp2395f2vswpva43k4ns6w', 'op_4f6znxm7crqajz036d2hkkvpq2', 1, 'flow', 'plain-note', NULL, '', '', '{text}', NULL, 'plain-demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.939633+00'),
	('ver_01m8mp2397eyt8g68q6560r2zv', 'op_62sf5rwqmee8x1t3qs4ffcwhxm', 1, 'flow', 'newsletter-coupon', NULL, '', '', '{}', '\x50d71bc8f59396f6e990ad9c7ccaa01f19a54800e0f7ea930655a85fc542a0d1', 'acct_demo', 'test', 'bearer env:SANDBOX_TOKEN', 1, 2, '2026-11-29 22:15:55.943184+00');

INSERT INTO public.users (id, email, name, locale, zone, password_hash, active, demo, chain_seq, chain_hash, created_at) VALUES
	('usr_01m8mp22t2etvr2s15jjtzw1mc', 'admin@example.test', 'Ada Admin', '', '', '', true, false, 2, '\x693b6abcfe743ccc7fb5c6b261280fc77eea3399efe86aedf8d8ef57c8a83fba', '2026-11-29 22:15:55.457148+00'),
	('usr_01m8mp22tceyjarczsgr6vyhht', 'author@example.test', 'Ann Author', '', '', '', true, false, 2, '\xbd2692d987d39fe51a547b34566a6829272a783fae9aa706496194d025662021', '2026-11-29 22:15:55.468421+00'),
	('usr_01m8mp22tefsq82cym67txak52', 'author2@example.test', 'Abe Author', '', '', '', true, false, 2, '\xad2b1077d6f1f5e784b4ff6a13e3dfa00aa508468302c2c5fd18885e791000d5', '2026-11-29 22:15:55.470833+00'),
	('usr_01m8mp22tgf9798thbn3zkt3ht', 'lead@example.test', 'Lea Lead', '', '', '', true, false, 2, '\xabcb9bf0e5875f5810224cbfaf69d7cb64337cab1580ebef08b93304863f83c9', '2026-11-29 22:15:55.472623+00'),
	('usr_01m8mp22tjeknv19zkvapt1ehk', 'second@example.test', 'Sam Second', '', '', '', true, false, 2, '\x07042f164102a38e739775bb2597d40aab0cdfe71fba6bde9190bc33518a1005', '2026-11-29 22:15:55.474266+00'),
	('usr_01m8mp22tme7mvn8ga072x5yxx', 'ops@example.test', 'Oli Ops', '', '', '', true, false, 2, '\x7708fcf7cf4e1ee5759a24ae83d1ef43682a71da27aca1f6f1151c60a56968cb', '2026-11-29 22:15:55.476055+00'),
	('usr_01m8mp22tnfskvbjdmr8y47bb0', 'ops2@example.test', 'Ona Ops', '', '', '', true, false, 2, '\x9f4af76dee9bdc8c8231e8fdd1ecdc7b366908cd5d1aa2c7cc46c4a444ee2fb6', '2026-11-29 22:15:55.477859+00'),
	('usr_01m8mp22tqfa0avfdqrqf8880a', 'auditor@example.test', 'Aud Auditor', '', '', '', true, false, 2, '\xbfa5de623a31c67d9020cc3b139677fb253959e16bdb26385050972e6f4857d0', '2026-11-29 22:15:55.479605+00');

INSERT INTO public.approvals (id, operation_id, version_id, hash, request_id, decision, user_id, role, reason, round, form_id, decided_at) VALUES
	('apr_01m8mp233gevda46zkh8a2ctvg', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 'ver_01m8mp232zfd0rjeesndadrb5q', '\xf53f144b38702afb49a7c424be46c5e23d573d540defaf17bfb5db27738af76f', NULL, 'approve', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', '', 1, '42CRSHEIUYQ4ONEW5TJS6PAKUQ', '2026-11-29 22:15:55.759771+00'),
	('apr_01m8mp234zfwh8rf796tt8vsvx', 'op_5xaex9y8tsq9vge61aseae1j2a', 'ver_01m8mp234rfhrtd034f29tzh70', '\x37014878d285dc488a6039e48b56b8d9b65200f6257f61684bcfdbf942614d87', NULL, 'approve', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', '', 1, 'O4PJDE74F4EVN6YZGDUPO4V5NO', '2026-11-29 22:15:55.807691+00'),
	('apr_01m8mp2352evv8jdcsyz745tmp', 'op_5xaex9y8tsq9vge61aseae1j2a', 'ver_01m8mp234rfhrtd034f29tzh70', '\x37014878d285dc488a6039e48b56b8d9b65200f6257f61684bcfdbf942614d87', NULL, 'approve', 'usr_01m8mp22tjeknv19zkvapt1ehk', 'approver', '', 1, 'DONBTN7UXTRO7FK4YF3FPAX43C', '2026-11-29 22:15:55.810223+00'),
	('apr_01m8mp2357fg2vesbmhbqpjgvh', 'op_4q1nqye6jmcjye89ndtgebh468', 'ver_01m8mp2355ff0968v024cddfh1', '\x87f8cf8b00bd41aa325db89031f347abe08b931150177821a75d658247886e87', NULL, 'approve', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', '', 1, 'LMC3MKSTKFODQ77FWI7QGBW3YI', '2026-11-29 22:15:55.81559+00'),
	('apr_01m8mp235cfkmvmrm40aa0c2gn', 'op_0n1cf6f3zazrc10esjxbdyed06', 'ver_01m8mp235af55rqcwydb25qp2c', '\x5681d4b89bd7bf79d6497e75404d41c422e01bb08ebc1cb02199d6c1a1c429a0', NULL, 'approve', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', '', 1, '3FORSEWSHVKYSMCDBD53OBJQPJ', '2026-11-29 22:15:55.820607+00'),
	('apr_01m8mp235pff4b65k8gbvzx91r', 'op_5ghh29qqrmfsncqscenb4wf5r7', 'ver_01m8mp235mfm8bbpnb0dknf1vb', '\x60f9a65ec8667925c75e65a45a7aa51e2f5b41dcf0bb5d6c1332b74c1ef1ab4d', NULL, 'approve', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', '', 1, 'CS5Y6SI5GBKJNSHHB3Z6ZTX4AS', '2026-11-29 22:15:55.830581+00'),
	('apr_01m8mp2362f7k85ykph7tm5kep', 'op_22x4mc535avmxpcqm0sbge5s4p', 'ver_01m8mp2360f66bga31kmeph8y1', '\xd707b7e043552756e7b8c99455a53db48709d144d445d1c4fdbc07bbae49b11d', NULL, 'approve', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', '', 1, 'GRRIEVD7FZRZX3R2LTVOATLYNF', '2026-11-29 22:15:55.84243+00'),
	('apr_01m8mp236qe37957wdt162q381', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 'ver_01m8mp2369f2jaab1qkm6vdjys', '\xa1145f0a78a25747405fe3dad0a3a13fc9c41ddf1159ed1487fef2e45dd4ca08', NULL, 'approve', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', '', 1, 'YKDWBCI3DJEMC3TRRLUCLJ6GFE', '2026-11-29 22:15:55.862721+00'),
	('apr_01m8mp237afg2v5zarjv64jpp1', 'op_2jpzdxyeqf3037sn3sxd1asq99', 'ver_01m8mp2377ftna0ywmeybmf7pg', '\xec76330cc4db9f0c5030df798987c716bac098f3a2bc7afa6b64db45f8b7af18', NULL, 'approve', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', '', 1, 'FUZ6G3UD32SMETRHWRWMZ2ZS4C', '2026-11-29 22:15:55.882467+00'),
	('apr_01m8mp237yengbw68hd54nmg07', 'op_09chq6zxpq5m4t2hxbcqxr33mr', 'ver_01m8mp237vfwqsghawrg6j6xp8', '\xd5b43ff0eed727205f7e2d99e02cf6e51059ce78a718558b52e7e9b48e94641e', NULL, 'approve', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', '', 1, 'XFDI7JXQSAX6DLW5N4SYRQ25A3', '2026-11-29 22:15:55.902093+00'),
	('apr_01m8mp2386ejqrd2d4c0dsqefh', 'op_1dv3bnrdgyac9zr90xfkbay2wy', 'ver_01m8mp2384ek3td65gk0tz99km', '\x63244ecf6df8a11bb1e6b8b22637f411c4b42698ce9aec5832a0dbeac199a6a3', NULL, 'reject', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', 'as the test wants it', 1, 'BG7KYQNLDR6WEFZQ77RIEPKAFP', '2026-11-29 22:15:55.910113+00'),
	('apr_01m8mp238be548kt6qp8w8bhwx', 'op_7x50at0m1gpv9md7e3h7zqvt71', 'ver_01m8mp2389e2mbg8ev1r5ce8pn', '\xcd4391eb061fa261a2572c3f79d824a9d9089f3fef96bc6cf15b9d6ff1b7e6d8', NULL, 'approve', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', '', 1, 'VFPCHLMZH46FRIWLUN6COG3MS4', '2026-11-29 22:15:55.914887+00'),
	('apr_01m8mp238pfvat9m2f9649gsse', 'op_16xkhm7ng5z68ebngjhpkqqktj', 'ver_01m8mp238mfwd8s89ys6k0mv3p', '\xf52559c9f253ad0b22ec498e7278f366ef3a220834df6107dbd548d72892a46a', NULL, 'approve', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', '', 1, 'CXSZGPJ2E5M7H337WNDIB5BILL', '2026-11-29 22:15:55.926743+00');

INSERT INTO public.clearances (id, operation_id, version_id, hash, kind, request_id, required, policy, expires_at, created_at) VALUES
	('clr_01m8mp233gevps3a0074pfqbs4', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 'ver_01m8mp232zfd0rjeesndadrb5q', '\xf53f144b38702afb49a7c424be46c5e23d573d540defaf17bfb5db27738af76f', 'content', NULL, 1, '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-12-06 22:15:55.759771+00', '2026-11-29 22:15:55.759771+00'),
	('clr_01m8mp2352ew4sdy3e9hthvpzp', 'op_5xaex9y8tsq9vge61aseae1j2a', 'ver_01m8mp234rfhrtd034f29tzh70', '\x37014878d285dc488a6039e48b56b8d9b65200f6257f61684bcfdbf942614d87', 'content', NULL, 2, '{"approvers":{"role":"approver"},"required":2,"separate_author":true,"expires":259200000000000,"due":28800000000000,"remind":14400000000000}', '2026-12-02 22:15:55.807691+00', '2026-11-29 22:15:55.810223+00'),
	('clr_01m8mp2357fgaa98s0dydn6c2d', 'op_4q1nqye6jmcjye89ndtgebh468', 'ver_01m8mp2355ff0968v024cddfh1', '\x87f8cf8b00bd41aa325db89031f347abe08b931150177821a75d658247886e87', 'content', NULL, 1, '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-12-06 22:15:55.81559+00', '2026-11-29 22:15:55.81559+00'),
	('clr_01m8mp235cfkys48b72wz5t5ef', 'op_0n1cf6f3zazrc10esjxbdyed06', 'ver_01m8mp235af55rqcwydb25qp2c', '\x5681d4b89bd7bf79d6497e75404d41c422e01bb08ebc1cb02199d6c1a1c429a0', 'content', NULL, 1, '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-12-06 22:15:55.820607+00', '2026-11-29 22:15:55.820607+00'),
	('clr_01m8mp235pffctx4c10dq0aavc', 'op_5ghh29qqrmfsncqscenb4wf5r7', 'ver_01m8mp235mfm8bbpnb0dknf1vb', '\x60f9a65ec8667925c75e65a45a7aa51e2f5b41dcf0bb5d6c1332b74c1ef1ab4d', 'content', NULL, 1, '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-12-06 22:15:55.830581+00', '2026-11-29 22:15:55.830581+00'),
	('clr_01m8mp2362f7v89n9byxea47sw', 'op_22x4mc535avmxpcqm0sbge5s4p', 'ver_01m8mp2360f66bga31kmeph8y1', '\xd707b7e043552756e7b8c99455a53db48709d144d445d1c4fdbc07bbae49b11d', 'content', NULL, 1, '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-12-06 22:15:55.84243+00', '2026-11-29 22:15:55.84243+00'),
	('clr_01m8mp236qe3n8hjh0e4xqh6w7', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 'ver_01m8mp2369f2jaab1qkm6vdjys', '\xa1145f0a78a25747405fe3dad0a3a13fc9c41ddf1159ed1487fef2e45dd4ca08', 'content', NULL, 1, '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-12-06 22:15:55.862721+00', '2026-11-29 22:15:55.862721+00'),
	('clr_01m8mp237afgfty9w598q63yj4', 'op_2jpzdxyeqf3037sn3sxd1asq99', 'ver_01m8mp2377ftna0ywmeybmf7pg', '\xec76330cc4db9f0c5030df798987c716bac098f3a2bc7afa6b64db45f8b7af18', 'content', NULL, 1, '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-12-06 22:15:55.882467+00', '2026-11-29 22:15:55.882467+00'),
	('clr_01m8mp237yenxt1h83b7y6j041', 'op_09chq6zxpq5m4t2hxbcqxr33mr', 'ver_01m8mp237vfwqsghawrg6j6xp8', '\xd5b43ff0eed727205f7e2d99e02cf6e51059ce78a718558b52e7e9b48e94641e', 'content', NULL, 1, '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-12-06 22:15:55.902093+00', '2026-11-29 22:15:55.902093+00'),
	('clr_01m8mp238be5cb0hmqg6gcmr41', 'op_7x50at0m1gpv9md7e3h7zqvt71', 'ver_01m8mp2389e2mbg8ev1r5ce8pn', '\xcd4391eb061fa261a2572c3f79d824a9d9089f3fef96bc6cf15b9d6ff1b7e6d8', 'content', NULL, 1, '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-12-06 22:15:55.914887+00', '2026-11-29 22:15:55.914887+00'),
	('clr_01m8mp238pfvkv1hzedjksr403', 'op_16xkhm7ng5z68ebngjhpkqqktj', 'ver_01m8mp238mfwd8s89ys6k0mv3p', '\xf52559c9f253ad0b22ec498e7278f366ef3a220834df6107dbd548d72892a46a', 'content', NULL, 1, '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-12-06 22:15:55.926743+00', '2026-11-29 22:15:55.926743+00');

INSERT INTO public.attempts (id, operation_id, number, fence, kind, counted, cap, version_id, clearance_id, clearance_kind, destination_version, account, key, key_generation, protected, worker, claimed_by, claimed_at, lease_until, lease_cap, send_by, dispatched_at, resolved, resolved_hash, outcome, proof, permanent, ended_at, settled, settled_at) VALUES
	('att_01m8mp233sf7rabe0cna25k3hz', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 1, 1, 'first', 1, 5, 'ver_01m8mp232zfd0rjeesndadrb5q', 'clr_01m8mp233gevps3a0074pfqbs4', 'content', 2, 'acct_demo', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 1, true, 'hand', 'hand', '2026-11-29 22:15:55.769191+00', '2026-11-29 22:16:55.769191+00', '2026-11-29 22:30:55.769191+00', '2026-11-29 22:16:55.769191+00', '2026-11-29 22:15:55.769191+00', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"op_4qmgdg1tjb6yvhxsqp6d0a864v"}],"body":"duration=once\u0026id=CODE-1\u0026metadata[operation_id]=op_4qmgdg1tjb6yvhxsqp6d0a864v\u0026name=Coupon+1\u0026percent_off=10"}', '\x745efe2a9f28592424f5af33b5f0cef10f641a971534e7c9fb657666a1a6d582', 'not_started', '{"code":"rate_limited","status":429}', false, '2026-11-29 22:15:55.776504+00', NULL, NULL),
	('att_01m8mp235je84b5ahq1gkymh54', 'op_0n1cf6f3zazrc10esjxbdyed06', 1, 1, 'first', 1, 5, 'ver_01m8mp235af55rqcwydb25qp2c', 'clr_01m8mp235cfkys48b72wz5t5ef', 'content', 2, 'acct_demo', 'op_0n1cf6f3zazrc10esjxbdyed06', 1, true, 'hand', 'hand', '2026-11-29 22:15:55.825819+00', '2026-11-29 22:16:55.825819+00', '2026-11-29 22:30:55.825819+00', '2026-11-29 22:16:55.825819+00', '2026-11-29 22:15:55.825819+00', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"op_0n1cf6f3zazrc10esjxbdyed06"}],"body":"duration=once\u0026id=CODE-6\u0026metadata[operation_id]=op_0n1cf6f3zazrc10esjxbdyed06\u0026name=Coupon+6\u0026percent_off=10"}', '\x5cee26c17fbb2ea273db10059454d4cf33479784b592a61cbf5841210cf411cc', NULL, NULL, false, NULL, NULL, NULL),
	('att_01m8mp235reymskdv4n65fmy83', 'op_5ghh29qqrmfsncqscenb4wf5r7', 1, 1, 'first', 1, 5, 'ver_01m8mp235mfm8bbpnb0dknf1vb', 'clr_01m8mp235pffctx4c10dq0aavc', 'content', 2, 'acct_demo', 'op_5ghh29qqrmfsncqscenb4wf5r7', 1, true, 'hand', 'hand', '2026-11-29 22:15:55.832192+00', '2026-11-29 22:16:55.832192+00', '2026-11-29 22:30:55.832192+00', '2026-11-29 22:16:55.832192+00', '2026-11-29 22:15:55.832192+00', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"op_5ghh29qqrmfsncqscenb4wf5r7"}],"body":"duration=once\u0026id=CODE-7\u0026metadata[operation_id]=op_5ghh29qqrmfsncqscenb4wf5r7\u0026name=Coupon+7\u0026percent_off=10"}', '\xc009645fbbe76d85b069457344e30e7cf60ae9e5b78ca5c0c0e6c5709434310b', 'not_started', '{"code":"rate_limited","status":429}', false, '2026-11-29 22:15:55.83777+00', NULL, NULL),
	('att_01m8mp2364ecstnjb2m8ch0a5y', 'op_22x4mc535avmxpcqm0sbge5s4p', 1, 1, 'first', 1, 5, 'ver_01m8mp2360f66bga31kmeph8y1', 'clr_01m8mp2362f7v89n9byxea47sw', 'content', 2, 'acct_demo', 'op_22x4mc535avmxpcqm0sbge5s4p', 1, true, 'hand', 'hand', '2026-11-29 22:15:55.843944+00', '2026-11-29 22:16:55.843944+00', '2026-11-29 22:30:55.843944+00', '2026-11-29 22:16:55.843944+00', '2026-11-29 22:15:55.843944+00', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"op_22x4mc535avmxpcqm0sbge5s4p"}],"body":"duration=once\u0026id=CODE-8\u0026metadata[operation_id]=op_22x4mc535avmxpcqm0sbge5s4p\u0026name=Coupon+8\u0026percent_off=10"}', '\xd124db343295eefa04d12550a8bfb197f825a392acec26918594991c3fde5e26', 'unknown', '{"code":"timeout","phase":"sent"}', false, '2026-11-29 22:15:55.845557+00', NULL, NULL),
	('att_01m8mp236ye9n8k5b63sg75bd2', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 1, 1, 'first', 1, 5, 'ver_01m8mp2369f2jaab1qkm6vdjys', 'clr_01m8mp236qe3n8hjh0e4xqh6w7', 'content', 2, 'acct_demo', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 1, true, 'hand', 'hand', '2026-11-29 22:15:55.869846+00', '2026-11-29 22:16:55.869846+00', '2026-11-29 22:30:55.869846+00', '2026-11-29 22:16:55.869846+00', '2026-11-29 22:15:55.869846+00', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"op_7nevs6k18ecx4r65eqtwqj6sn0"}],"body":"duration=once\u0026id=CODE-9\u0026metadata[operation_id]=op_7nevs6k18ecx4r65eqtwqj6sn0\u0026name=Coupon+9\u0026percent_off=10"}', '\xb2a202ae31429aa84de4042750a2580800ab9248637e8704eef975f9feb3d344', 'unknown', '{"code":"mismatch","status":400}', false, '2026-11-29 22:15:55.876719+00', NULL, NULL),
	('att_01m8mp237cfsk8jg50s0yk76a9', 'op_2jpzdxyeqf3037sn3sxd1asq99', 1, 1, 'first', 1, 5, 'ver_01m8mp2377ftna0ywmeybmf7pg', 'clr_01m8mp237afgfty9w598q63yj4', 'content', 2, 'acct_demo', 'op_2jpzdxyeqf3037sn3sxd1asq99', 1, true, 'hand', 'hand', '2026-11-29 22:15:55.884618+00', '2026-11-29 22:16:55.884618+00', '2026-11-29 22:30:55.884618+00', '2026-11-29 22:16:55.884618+00', '2026-11-29 22:15:55.884618+00', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"op_2jpzdxyeqf3037sn3sxd1asq99"}],"body":"duration=once\u0026id=CODE-10\u0026metadata[operation_id]=op_2jpzdxyeqf3037sn3sxd1asq99\u0026name=Coupon+10\u0026percent_off=10"}', '\xf814bbf39b12d1815de20af33331c5f2e05d4a3b583cf9eab90c3f01a9c4043a', 'unknown', '{"code":"timeout","phase":"sent"}', false, '2026-11-29 22:15:55.886522+00', 'not_done', '2026-11-29 22:15:55.891498+00'),
	('att_01m8mp237zftnr0nz9er07qznc', 'op_09chq6zxpq5m4t2hxbcqxr33mr', 1, 1, 'first', 1, 5, 'ver_01m8mp237vfwqsghawrg6j6xp8', 'clr_01m8mp237yenxt1h83b7y6j041', 'content', 2, 'acct_demo', 'op_09chq6zxpq5m4t2hxbcqxr33mr', 1, true, 'hand', 'hand', '2026-11-29 22:15:55.903736+00', '2026-11-29 22:16:55.903736+00', '2026-11-29 22:30:55.903736+00', '2026-11-29 22:16:55.903736+00', '2026-11-29 22:15:55.903736+00', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"op_09chq6zxpq5m4t2hxbcqxr33mr"}],"body":"duration=once\u0026id=CODE-11\u0026metadata[operation_id]=op_09chq6zxpq5m4t2hxbcqxr33mr\u0026name=Coupon+11\u0026percent_off=10"}', '\x3ccd104c75ef621496c61a9d90510e1224b321dadbfe7312740b6ce9bff5a58a', 'confirmed', '{"code":"confirmed","status":200}', false, '2026-11-29 22:15:55.905231+00', NULL, NULL),
	('att_01m8mp238cfgnsh4zma90ka788', 'op_7x50at0m1gpv9md7e3h7zqvt71', 1, 1, 'first', 1, 5, 'ver_01m8mp2389e2mbg8ev1r5ce8pn', 'clr_01m8mp238be5cb0hmqg6gcmr41', 'content', 2, 'acct_demo', 'op_7x50at0m1gpv9md7e3h7zqvt71', 1, true, 'hand', 'hand', '2026-11-29 22:15:55.916488+00', '2026-11-29 22:16:55.916488+00', '2026-11-29 22:30:55.916488+00', '2026-11-29 22:16:55.916488+00', '2026-11-29 22:15:55.916488+00', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"op_7x50at0m1gpv9md7e3h7zqvt71"}],"body":"duration=once\u0026id=CODE-13\u0026metadata[operation_id]=op_7x50at0m1gpv9md7e3h7zqvt71\u0026name=Coupon+13\u0026percent_off=10"}', '\x5f9fa1f8b6d0842d66174c228e69334f460c7604e65eb9b0e4a1f7ad3adbe7f9', 'not_started', '{"code":"rate_limited","status":429}', false, '2026-11-29 22:15:55.918527+00', NULL, NULL),
	('att_01m8mp238rfewrhdw9g3nn9tpc', 'op_16xkhm7ng5z68ebngjhpkqqktj', 1, 1, 'first', 1, 5, 'ver_01m8mp238mfwd8s89ys6k0mv3p', 'clr_01m8mp238pfvkv1hzedjksr403', 'content', 2, 'acct_demo', 'op_16xkhm7ng5z68ebngjhpkqqktj', 1, true, 'hand', 'hand', '2026-11-29 22:15:55.928535+00', '2026-11-29 22:16:55.928535+00', '2026-11-29 22:30:55.928535+00', '2026-11-29 22:16:55.928535+00', '2026-11-29 22:15:55.928535+00', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"op_16xkhm7ng5z68ebngjhpkqqktj"}],"body":"duration=once\u0026id=CODE-14\u0026metadata[operation_id]=op_16xkhm7ng5z68ebngjhpkqqktj\u0026name=Coupon+14\u0026percent_off=10"}', '\x661273afac350c6ec0cb2dd4463fcacfc8a5e35ca1524757f98b86c62ea9ce32', 'unknown', '{"code":"timeout","phase":"sent"}', false, '2026-11-29 22:15:55.930029+00', 'not_done', '2026-11-29 22:15:55.934562+00');

INSERT INTO public.checklist_answers (id, operation_id, round, item, yes, comment, user_id, at) OVERRIDING SYSTEM VALUE VALUES
	(1, 'op_2jpzdxyeqf3037sn3sxd1asq99', 0, 'operation_id', true, 'looked', 'usr_01m8mp22tme7mvn8ga072x5yxx', '2026-11-29 22:15:55.891498+00'),
	(2, 'op_2jpzdxyeqf3037sn3sxd1asq99', 0, 'destination', true, 'looked', 'usr_01m8mp22tme7mvn8ga072x5yxx', '2026-11-29 22:15:55.891498+00'),
	(3, 'op_2jpzdxyeqf3037sn3sxd1asq99', 0, 'key', true, 'looked', 'usr_01m8mp22tme7mvn8ga072x5yxx', '2026-11-29 22:15:55.891498+00'),
	(4, 'op_2jpzdxyeqf3037sn3sxd1asq99', 0, 'completion', true, 'looked', 'usr_01m8mp22tme7mvn8ga072x5yxx', '2026-11-29 22:15:55.891498+00'),
	(5, 'op_2jpzdxyeqf3037sn3sxd1asq99', 0, 'cause', true, 'looked', 'usr_01m8mp22tme7mvn8ga072x5yxx', '2026-11-29 22:15:55.891498+00'),
	(6, 'op_16xkhm7ng5z68ebngjhpkqqktj', 0, 'operation_id', true, 'looked', 'usr_01m8mp22tme7mvn8ga072x5yxx', '2026-11-29 22:15:55.934562+00'),
	(7, 'op_16xkhm7ng5z68ebngjhpkqqktj', 0, 'destination', true, 'looked', 'usr_01m8mp22tme7mvn8ga072x5yxx', '2026-11-29 22:15:55.934562+00'),
	(8, 'op_16xkhm7ng5z68ebngjhpkqqktj', 0, 'key', true, 'looked', 'usr_01m8mp22tme7mvn8ga072x5yxx', '2026-11-29 22:15:55.934562+00'),
	(9, 'op_16xkhm7ng5z68ebngjhpkqqktj', 0, 'completion', true, 'looked', 'usr_01m8mp22tme7mvn8ga072x5yxx', '2026-11-29 22:15:55.934562+00'),
	(10, 'op_16xkhm7ng5z68ebngjhpkqqktj', 0, 'cause', true, 'looked', 'usr_01m8mp22tme7mvn8ga072x5yxx', '2026-11-29 22:15:55.934562+00');

INSERT INTO public.clearance_approvals (clearance_id, approval_id) VALUES
	('clr_01m8mp233gevps3a0074pfqbs4', 'apr_01m8mp233gevda46zkh8a2ctvg'),
	('clr_01m8mp2352ew4sdy3e9hthvpzp', 'apr_01m8mp234zfwh8rf796tt8vsvx'),
	('clr_01m8mp2352ew4sdy3e9hthvpzp', 'apr_01m8mp2352evv8jdcsyz745tmp'),
	('clr_01m8mp2357fgaa98s0dydn6c2d', 'apr_01m8mp2357fg2vesbmhbqpjgvh'),
	('clr_01m8mp235cfkys48b72wz5t5ef', 'apr_01m8mp235cfkmvmrm40aa0c2gn'),
	('clr_01m8mp235pffctx4c10dq0aavc', 'apr_01m8mp235pff4b65k8gbvzx91r'),
	('clr_01m8mp2362f7v89n9byxea47sw', 'apr_01m8mp2362f7k85ykph7tm5kep'),
	('clr_01m8mp236qe3n8hjh0e4xqh6w7', 'apr_01m8mp236qe37957wdt162q381'),
	('clr_01m8mp237afgfty9w598q63yj4', 'apr_01m8mp237afg2v5zarjv64jpp1'),
	('clr_01m8mp237yenxt1h83b7y6j041', 'apr_01m8mp237yengbw68hd54nmg07'),
	('clr_01m8mp238be5cb0hmqg6gcmr41', 'apr_01m8mp238be548kt6qp8w8bhwx'),
	('clr_01m8mp238pfvkv1hzedjksr403', 'apr_01m8mp238pfvat9m2f9649gsse');

INSERT INTO public.deliveries (id, source, delivery_key, subscription, event_id, verdict, reason, status, body_hash, body, headers, skew_ms, received_at) VALUES
	('dlv_01m8mp232mem3tvdwzwswd5dc2', 'api', 'dlv-1', '', 'evt_01m8mp232mem79gg0t45t3qr16', 'accepted', '', 202, '\x0400dfae2867c2aabe33938a85ac0775b287e7cfdb7594f7b6d318b030b7a14a', NULL, 'null', NULL, '2026-11-29 22:15:55.733539+00'),
	('dlv_01m8mp2348fq3a7wmn15rm80yn', 'api', 'dlv-2', '', 'evt_01m8mp2348fq68tdmydp3aqp4j', 'accepted', '', 202, '\x03dfc87260132dd34d53a2d925c9f48af56ba1af115f30c65cf12d046dd53369', NULL, 'null', NULL, '2026-11-29 22:15:55.785386+00'),
	('dlv_01m8mp234bfnxs2cq391fkp9p5', 'api', 'dlv-3', '', 'evt_01m8mp234bfp0acpxgk4n30y9n', 'accepted', '', 202, '\x6b73a69fbfe8cfa02c20f576abfd99875b33367800e4fbaeca697e50a32ae355', NULL, 'null', NULL, '2026-11-29 22:15:55.788081+00'),
	('dlv_01m8mp234df1vt1zqjgjfh6vx8', 'shopify-flow', 'dlv-4', '', 'evt_01m8mp234df1yvcaz8mmsy8m70', 'accepted', '', 202, '\x24c68dcbd220e311eb7b806d8a535a67baccd7fde460a3cfe2592a15d8db9698', NULL, 'null', NULL, '2026-11-29 22:15:55.789724+00'),
	('dlv_01m8mp2355em293cf5j4tx0s3d', 'api', 'dlv-5', '', 'evt_01m8mp2355em5bc6zwehx4kmby', 'accepted', '', 202, '\xfca3c9a931c79fa6384e3ab736bcb415e251a0b98e100bfba4b89ea6857f7ea7', NULL, 'null', NULL, '2026-11-29 22:15:55.81346+00'),
	('dlv_01m8mp235ae9390j7zfwabghh8', 'api', 'dlv-6', '', 'evt_01m8mp235ae94r9050fy7324y3', 'accepted', '', 202, '\x147f000080a7ea5ebc5600f8e9145048b93197a29844e6b3286f51e1d2bba509', NULL, 'null', NULL, '2026-11-29 22:15:55.818304+00'),
	('dlv_01m8mp235mepdatkmvrgfwam2q', 'api', 'dlv-7', '', 'evt_01m8mp235mepg9ph73tt9hnzzg', 'accepted', '', 202, '\x694184dcd6bff83a4a8e260b1e85d565de1010578608ad682e963327895d0bb9', NULL, 'null', NULL, '2026-11-29 22:15:55.828528+00'),
	('dlv_01m8mp2360eajams173n2dzk8e', 'api', 'dlv-8', '', 'evt_01m8mp2360eamty5rvgng89vjh', 'accepted', '', 202, '\xd30a5f596832016770975e042877820f234e6b713a9403a96733ccdb8e1562c9', NULL, 'null', NULL, '2026-11-29 22:15:55.840304+00'),
	('dlv_01m8mp2367fk8avjwn6wxxqmx8', 'api', 'dlv-9', '', 'evt_01m8mp2367fk9rt4sh1xxvnp47', 'accepted', '', 202, '\xc0241feefa675eb933896d5fcd586b6731c56a3ce9ec38a6f765e4a3996f3df9', NULL, 'null', NULL, '2026-11-29 22:15:55.849219+00'),
	('dlv_01m8mp2377ep4sztj43dedwp85', 'api', 'dlv-10', '', 'evt_01m8mp2377ep7r63h17rd2q40z', 'accepted', '', 202, '\x40280871b3f63530f94ab39e67534963961684643c79beefbcfcccbf8fc2db18', NULL, 'null', NULL, '2026-11-29 22:15:55.879622+00'),
	('dlv_01m8mp237vezc9v7yp7a8a4rnb', 'api', 'dlv-11', '', 'evt_01m8mp237veze8bf1tnpmc1shy', 'accepted', '', 202, '\x5dc04e644d81450bff3f25f9bbb99394461ccfb7d9c77854867561c2e62c906f', NULL, 'null', NULL, '2026-11-29 22:15:55.89969+00'),
	('dlv_01m8mp2383fjb8qs7kw8krsmxw', 'api', 'dlv-12', '', 'evt_01m8mp2383fjdv5278eybs5zst', 'accepted', '', 202, '\xd55fa8455fffbad6910d33a2f423fee551280550d99ca9c28e9e184cd1e602b4', NULL, 'null', NULL, '2026-11-29 22:15:55.907977+00'),
	('dlv_01m8mp2388f139s2m88bgtsvtc', 'api', 'dlv-13', '', 'evt_01m8mp2388f15sxf54j0q4r2by', 'accepted', '', 202, '\x09c622c1cf4cef73c6dec2504a0b3bf69aaeb71314fec4cae045230305d672b1', NULL, 'null', NULL, '2026-11-29 22:15:55.912714+00'),
	('dlv_01m8mp238mf0pa0mgr33h3h6tn', 'api', 'dlv-14', '', 'evt_01m8mp238mf0s9a9yt31hqr49q', 'accepted', '', 202, '\x8e1d5aba773d98f620baa968667baa7b9b7d5e3ddc25db59d928e010b35f77fe', NULL, 'null', NULL, '2026-11-29 22:15:55.924685+00'),
	('dlv_01m8mp2393exvvfgf5ddxprz5w', 'api', 'dlv-15', '', 'evt_01m8mp2393exy910xbx74zzbk6', 'accepted', '', 202, '\x2931bf987fa49d884e2b772adab1c5891e22277a539f77bf6f2fd11838bb83a7', NULL, 'null', NULL, '2026-11-29 22:15:55.939633+00'),
	('dlv_01m8mp2397e169w1ac9frp265w', 'api', 'dlv-16', '', 'evt_01m8mp2397e18rqj67y13rb6qn', 'accepted', '', 202, '\xfed81e424200cf7a3b3edb73d1490c220cead8ebb7b4f3713366350a4920640f', NULL, 'null', NULL, '2026-11-29 22:15:55.943184+00'),
	('dlv_01m8mp2398f46s9db0519m6sfa', 'api', 'dlv-16', '', 'evt_01m8mp2397e18rqj67y13rb6qn', 'repeated', '', 202, '\xfed81e424200cf7a3b3edb73d1490c220cead8ebb7b4f3713366350a4920640f', NULL, 'null', NULL, '2026-11-29 22:15:55.944728+00');

INSERT INTO public.destination_versions (destination, version, hash, source, created_by, created_at) VALUES
	('billing', 1, '\x8b42c3a65153065068446c2f7634232c5f08ba8f343eda543f98fab6e69f82b4', '# Billing of the sandbox speaks like Stripe v1. An invoice is protected by its key for
# 24 h and found again by it; a coupon is also unique by its own code, for ever.
destination: billing
title: {en: Billing (sandbox), ja: 請求（サンドボックス）, pl: Rozliczenia (piaskownica)}
kind: http
account: acct_demo
environment: test
base_url: ${env("SANDBOX_URL") + "/billing"}
local: true
auth: {bearer: {env: SANDBOX_TOKEN}}
limits: {concurrency: 8, rate: 50/s, timeout: 5s, body: 256KiB}
settle_after: 10s
retry: {max: 5, base: 2s, max_interval: 1m, respect_retry_after: true}
actions:
  create_invoice:
    effect: invoice
    title: {en: Create an invoice, ja: 請求書を作成, pl: Wystaw fakturę}
    content:
      type: object
      additionalProperties: false
      required: [customer, amount, currency, description]
      properties:
        customer: {type: string, minLength: 1, maxLength: 200}
        amount: {type: integer, minimum: 0, maximum: 10000000}       # minor units
        currency: {type: string, pattern: "^[a-z]{3}$"}
        description: {type: string, minLength: 1, maxLength: 1500}
    request:
      method: POST
      path: /v1/invoices
      form:
        customer: ${content.customer}
        amount: ${content.amount}
        currency: ${content.currency}
        description: ${content.description}
        collection_method: send_invoice
        days_until_due: 14
        metadata: {operation_id: "{operation_id}"}
    protection:
      key: {header: Idempotency-Key, value: "{key}"}
      retention: 24h
      margin: 1h
      mismatch: ${status == 400 && body.error.type == "idempotency_error"}
      in_progress: ${status == 409 && body.error.?code.orValue("") == "idempotency_key_in_use"}
      replay: ${header[?"idempotent-replayed"].orValue("") == "true"}
      replays_errors: true
      proven: {on: 2026-11-29, by: two equal calls to the sandbox}
    outcome:
      - {confirmed: ${status == 200 && has(body.id)}}
      - {not_started: ${status == 429}, code: rate_limited}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status in [400, 404] && body.error.type == "invalid_request_error"}, code: validation, permanent: true}
    reference:
      id: ${body.id}
      url: ${env("SANDBOX_URL") + "/billing/view/" + body.id}
      fits: ${body.metadata.operation_id == operation_id}
    lookup:
      request: {method: GET, path: /v1/events, query: {type: invoice.created, limit: 100}}
      match: ${body.data.filter(e, e.request.idempotency_key == key)}
      more: ${body.has_more}
      id: ${match.data.object.id}
      url: ${env("SANDBOX_URL") + "/billing/view/" + match.data.object.id}
      fits: ${match.data.object.customer == content.customer && match.data.object.amount == string(content.amount)}
      lag: 2s
    look_yourself:
      - {en: The sandbox''s ledger of billing, ja: サンドボックスの請求台帳, pl: Księga rozliczeń w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=billing"}
  create_coupon:
    effect: coupon
    title: {en: Create a coupon, ja: クーポンを作成, pl: Utwórz kupon}
    content:
      type: object
      additionalProperties: false
      required: [code, percent_off, name]
      properties:
        code: {type: string, pattern: "^[A-Z0-9][A-Z0-9-]{2,60}$"}
        percent_off: {type: integer, minimum: 1, maximum: 100}
        name: {type: string, minLength: 1, maxLength: 40}
    request:
      method: POST
      path: /v1/coupons
      form:
        id: ${content.code}
        percent_off: ${content.percent_off}
        name: ${content.name}
        duration: once
        metadata: {operation_id: "{operation_id}"}
    protection:
      key: {header: Idempotency-Key, value: "{key}"}
      retention: 24h
      mismatch: ${status == 400 && body.error.type == "idempotency_error"}
      in_progress: ${status == 409 && body.error.?code.orValue("") == "idempotency_key_in_use"}
      replay: ${header[?"idempotent-replayed"].orValue("") == "true"}
      replays_errors: true
      proven: {on: 2026-11-29, by: two equal calls to the sandbox}
    outcome:
      - {confirmed: ${status == 200 && has(body.id)}}
      - {lookup: ${status == 400 && body.error.?code.orValue("") == "resource_already_exists"}}
      - {not_started: ${status == 429}, code: rate_limited}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status == 400 && body.error.type == "invalid_request_error"}, code: validation, permanent: true}
    reference:
      id: ${body.id}
      url: ${env("SANDBOX_URL") + "/billing/view/" + body.id}
      fits: ${body.id == content.code}
    lookup:
      request: {method: GET, path: "/v1/coupons/${content.code}"}
      by: operation_id
      none: ${status == 404 && body.error.?code.orValue("") == "resource_missing"}
      match: ${body}
      id: ${match.id}
      url: ${env("SANDBOX_URL") + "/billing/view/" + match.id}
      fits: ${match.metadata.?operation_id.orValue("") == operation_id && match.percent_off == string(content.percent_off)}
      authoritative: true
    look_yourself:
      - {en: The sandbox''s ledger of billing, ja: サンドボックスの請求台帳, pl: Księga rozliczeń w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=billing"}
', 'system', '2026-11-29 22:15:55.516112+00'),
	('crm', 1, '\x2486255f94393f4af09c396a88c01da0bf6ea786225c8a755ba000f3f7d22959', '# The CRM of the sandbox: no idempotency key, but a unique reference that can be read
# back directly. An unknown outcome is settled by that read; a 409 leads there too.
destination: crm
title: {en: CRM (sandbox), ja: CRM（サンドボックス）, pl: CRM (piaskownica)}
kind: http
account: crm-demo
environment: test
base_url: ${env("SANDBOX_URL") + "/crm"}
local: true
auth: {bearer: {env: SANDBOX_TOKEN}}
limits: {concurrency: 8, rate: 50/s, timeout: 5s, body: 256KiB}
settle_after: 10s
lease: 60s
retry: {max: 5, base: 2s, max_interval: 1m, respect_retry_after: true}
actions:
  create_task:
    effect: task
    title: {en: Create a task, ja: タスクを作成, pl: Utwórz zadanie}
    content:
      type: object
      additionalProperties: false
      required: [subject, due]
      properties:
        subject: {type: string, minLength: 1, maxLength: 200}
        due: {type: string, format: date-time}
        contact: {type: string, maxLength: 200}
        note: {type: string, maxLength: 4000}
    request:
      method: POST
      path: /tasks
      json:
        subject: ${content.subject}
        due: ${content.due}
        contact: ${content.?contact}
        note: ${content.?note}
        reference: "{operation_id}"
    protection: {unique: reference}          # the CRM refuses a second task with our reference: 409
    outcome:
      - {confirmed: ${status == 201 && has(body.id)}}
      - {lookup: ${status == 409}}
      - {not_started: ${status == 400 && body.category == "VALIDATION_ERROR"}, code: validation, permanent: true}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status == 429}, code: rate_limited}
    reference:
      id: ${body.id}
      url: ${body.url}
      fits: ${body.reference == operation_id}
    lookup:
      request: {method: GET, path: "/tasks/by-reference/{operation_id}"}
      by: reference
      answered: ${status in [200, 300]}
      none: ${status == 404 && body.category == "OBJECT_NOT_FOUND"}
      match: "${status == 300 ? body.results : [body]}"
      id: ${match.id}
      url: ${match.url}
      fits: ${match.reference == operation_id && match.subject == content.subject}
      lag: 15s                               # its index is behind: nobody asks sooner
      authoritative: true
    look_yourself:
      - {en: The sandbox''s ledger of the CRM, ja: サンドボックスのCRM台帳, pl: Księga CRM w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=crm"}
', 'system', '2026-11-29 22:15:55.516112+00'),
	('mail', 1, '\xd355afbbd717ba697daafbbde4b1415b6a0fcb33f40d120c0b6021a4ea4af884', '# Mail of the sandbox speaks like Resend: a key protects for 24 h, and a tag with the
# operation''s ID finds the mail again. Accepted is not delivered: that comes by callback.
destination: mail
title: {en: Mail (sandbox), ja: メール（サンドボックス）, pl: Poczta (piaskownica)}
kind: http
account: mail-demo
environment: test
base_url: ${env("SANDBOX_URL") + "/mail"}
local: true
auth: {bearer: {env: SANDBOX_TOKEN}}
limits: {concurrency: 8, rate: 50/s, timeout: 5s, body: 256KiB}
settle_after: 10s
retry: {max: 5, base: 2s, max_interval: 1m, respect_retry_after: true}
actions:
  send:
    effect: email
    title: {en: Send a mail, ja: メールを送信, pl: Wyślij e-mail}
    content:
      type: object
      additionalProperties: false
      required: [to, subject, text]
      properties:
        to: {type: string, format: email}
        subject: {type: string, minLength: 1, maxLength: 200, pattern: "^[^\\r\\n]*$"}
        text: {type: string, minLength: 1, maxLength: 50000}
        html: {type: string, maxLength: 100000}
    request:
      method: POST
      path: /emails
      json:
        from: Demo shop <shop@example.test>
        to: ["${content.to}"]
        subject: ${content.subject}
        text: ${content.text}
        html: ${content.?html}
        tags: [{name: operation_id, value: "{operation_id}"}]
    protection:
      key: {header: Idempotency-Key, value: "{key}"}
      retention: 24h
      mismatch: ${status == 409 && body.name == "invalid_idempotent_request"}
      in_progress: ${status == 409 && body.name == "concurrent_idempotent_requests"}
      proven: {on: 2026-11-29, by: two equal calls to the sandbox}
    outcome:
      - {confirmed: ${status == 200 && has(body.id)}}
      - {not_started: ${status == 429}, code: rate_limited}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status in [400, 422]}, code: validation, permanent: true}
    reference:
      id: ${body.id}
      url: ${env("SANDBOX_URL") + "/mail/view/" + body.id}
    lookup:
      request: {method: GET, path: /emails, query: {tag: "operation_id:{operation_id}", limit: 100}}
      by: tag
      match: ${body.data}
      more: ${body.has_more}
      id: ${match.id}
      url: ${env("SANDBOX_URL") + "/mail/view/" + match.id}
      fits: ${match.subject == content.subject && content.to in match.to}
      lag: 2s
    look_yourself:
      - {en: The sandbox''s ledger of mail, ja: サンドボックスのメール台帳, pl: Księga poczty w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=mail"}
', 'system', '2026-11-29 22:15:55.516112+00'),
	('partner', 1, '\x33f55000a95ebaad06be12bc4a738e63c4389c6246f94998907a4689560ce8c2', '# A partner''s task list (the sandbox''s CRM again). Our own jobs send nothing here: another
# program asks the job API for a permit, sends the approved request itself and reports.
destination: partner
title: {en: Partner (sandbox), ja: パートナー（サンドボックス）, pl: Partner (piaskownica)}
kind: http
account: partner-demo
environment: test
base_url: ${env("SANDBOX_URL") + "/crm"}
local: true
auth: {bearer: {env: SANDBOX_TOKEN}}
performed_by: clients
limits: {concurrency: 4, rate: 20/s, timeout: 5s, body: 256KiB}
settle_after: 10s
retry: {max: 5, base: 2s, max_interval: 1m}
actions:
  create_task:
    effect: task
    title: {en: Create a task at the partner, ja: パートナーにタスクを作成, pl: Utwórz zadanie u partnera}
    content:
      type: object
      additionalProperties: false
      required: [subject, due]
      properties:
        subject: {type: string, minLength: 1, maxLength: 200}
        due: {type: string, format: date-time}
    request:
      method: POST
      path: /tasks
      json: {subject: "${content.subject}", due: "${content.due}", reference: "{operation_id}"}
    protection: {unique: reference}
    outcome:                                 # what a client may report as not_started stands here
      - {confirmed: ${status == 201 && has(body.id)}}
      - {lookup: ${status == 409}}
      - {not_started: ${status == 400 && body.category == "VALIDATION_ERROR"}, code: validation, permanent: true}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status == 429}, code: rate_limited}
    reference:
      id: ${body.id}
      url: ${body.url}
    lookup:
      request: {method: GET, path: "/tasks/by-reference/{operation_id}"}
      by: reference
      answered: ${status in [200, 300]}
      none: ${status == 404 && body.category == "OBJECT_NOT_FOUND"}
      match: "${status == 300 ? body.results : [body]}"
      id: ${match.id}
      url: ${match.url}
      fits: ${match.reference == operation_id && match.subject == content.subject}
      lag: 15s
      authoritative: true
    look_yourself:
      - {en: The sandbox''s ledger of the CRM, ja: サンドボックスのCRM台帳, pl: Księga CRM w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=crm"}
', 'system', '2026-11-29 22:15:55.516112+00'),
	('plain', 1, '\x3a9706baf1b8fa458a84f7d6a60febdc67cf6a05b181f55f850c0bf7e9a5a201', '# The worst case: no key, no unique reference, no way to ask. Whatever is unknown here
# is decided by a person.
destination: plain
title: {en: Plain service (sandbox), ja: 保護のないサービス（サンドボックス）, pl: Zwykła usługa (piaskownica)}
kind: http
account: plain-demo
environment: test
base_url: ${env("SANDBOX_URL") + "/plain"}
local: true
auth: {bearer: {env: SANDBOX_TOKEN}}
limits: {concurrency: 4, rate: 20/s, timeout: 5s, body: 64KiB}
settle_after: 10s
retry: {max: 3, base: 2s, max_interval: 1m, respect_retry_after: true}
actions:
  create_thing:
    effect: note
    title: {en: Leave a note, ja: メモを残す, pl: Zostaw notatkę}
    content:
      type: object
      additionalProperties: false
      required: [topic, text]
      properties:
        topic: {type: string, minLength: 1, maxLength: 200}
        text: {type: string, minLength: 1, maxLength: 10000}
    request:
      method: POST
      path: /things
      json: {topic: "${content.topic}", text: "${content.text}", reference: "{operation_id}"}
    outcome:
      - {confirmed: ${status == 201 && has(body.id)}}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status == 429}, code: rate_limited}
    reference:
      id: ${body.id}
      url: ${env("SANDBOX_URL") + "/plain/view/" + body.id}
    look_yourself:
      - {en: The sandbox''s ledger of the plain service, ja: サンドボックスの台帳, pl: Księga zwykłej usługi w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=plain"}
', 'system', '2026-11-29 22:15:55.516112+00'),
	('smtp', 1, '\xb1fe6a8e10db4faf6b3362e8e3e76b759d5dbe4f039008862dbbe6cda70dbb75', '# Mail by plain SMTP: no key and no lookup. The Message-ID carries the operation''s ID,
# so that a person can search the server''s log for it.
destination: smtp
title: {en: SMTP (sandbox), ja: SMTP（サンドボックス）, pl: SMTP (piaskownica)}
kind: smtp
account: smtp-demo
environment: test
local: true
auth: {none: true}
smtp:
  addr: ${env("SANDBOX_SMTP")}
  starttls: off
  from: Demo shop <shop@example.test>
  message_id_domain: sandbox.example.test
limits: {concurrency: 4, rate: 20/s, timeout: 10s, body: 64KiB}
settle_after: 10s
retry: {max: 3, base: 2s, max_interval: 1m}
actions:
  send:
    effect: email
    title: {en: Send a mail by SMTP, ja: SMTPでメールを送信, pl: Wyślij e-mail przez SMTP}
    content:
      type: object
      additionalProperties: false
      required: [to, subject, text]
      properties:
        to: {type: string, format: email}
        subject: {type: string, minLength: 1, maxLength: 200, pattern: "^[^\\r\\n]*$"}
        text: {type: string, minLength: 1, maxLength: 50000}
        html: {type: string, maxLength: 100000}
    mail:
      to: ${content.to}
      subject: ${content.subject}
      text: ${content.text}
      html: ${content.?html}
      headers: {X-Operation-ID: "{operation_id}"}
    outcome:
      - {confirmed: ${status == 250}}
      - {not_started: ${status >= 500 && status < 600}, code: smtp_refused, permanent: true}
      - {not_started: ${status >= 400 && status < 500}, code: smtp_later}
    reference:
      id: ${operation_id + "@sandbox.example.test"}
      url: ${env("SANDBOX_URL") + "/?reference=" + operation_id}
    look_yourself:
      - {en: The sandbox''s ledger of SMTP, ja: サンドボックスのSMTP台帳, pl: Księga SMTP w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=smtp"}
', 'system', '2026-11-29 22:15:55.516112+00'),
	('billing', 2, '\xd8576985a76b1c4bfa7c9c84c16e35d9b5f5af5ec450f558764a5e441f638807', '# Billing of the sandbox speaks like Stripe v1. An invoice is protected by its key for
# 24 h and found again by it; a coupon is also unique by its own code, for ever.
destination: billing
title: {en: Billing (sandbox), ja: 請求（サンドボックス）, pl: Rozliczenia (piaskownica)}
kind: http
account: acct_demo
environment: test
base_url: ${env("SANDBOX_URL") + "/billing"}
local: true
auth: {bearer: {env: SANDBOX_TOKEN}}
limits: {concurrency: 8, rate: 50/s, timeout: 5s, body: 256KiB}
settle_after: 1ms
retry: {max: 5, base: 2s, max_interval: 1m, respect_retry_after: true}
actions:
  create_invoice:
    effect: invoice
    title: {en: Create an invoice, ja: 請求書を作成, pl: Wystaw fakturę}
    content:
      type: object
      additionalProperties: false
      required: [customer, amount, currency, description]
      properties:
        customer: {type: string, minLength: 1, maxLength: 200}
        amount: {type: integer, minimum: 0, maximum: 10000000}       # minor units
        currency: {type: string, pattern: "^[a-z]{3}$"}
        description: {type: string, minLength: 1, maxLength: 1500}
    request:
      method: POST
      path: /v1/invoices
      form:
        customer: ${content.customer}
        amount: ${content.amount}
        currency: ${content.currency}
        description: ${content.description}
        collection_method: send_invoice
        days_until_due: 14
        metadata: {operation_id: "{operation_id}"}
    protection:
      key: {header: Idempotency-Key, value: "{key}"}
      retention: 24h
      margin: 1h
      mismatch: ${status == 400 && body.error.type == "idempotency_error"}
      in_progress: ${status == 409 && body.error.?code.orValue("") == "idempotency_key_in_use"}
      replay: ${header[?"idempotent-replayed"].orValue("") == "true"}
      replays_errors: true
      proven: {on: 2026-11-29, by: two equal calls to the sandbox}
    outcome:
      - {confirmed: ${status == 200 && has(body.id)}}
      - {not_started: ${status == 429}, code: rate_limited}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status in [400, 404] && body.error.type == "invalid_request_error"}, code: validation, permanent: true}
    reference:
      id: ${body.id}
      url: ${env("SANDBOX_URL") + "/billing/view/" + body.id}
      fits: ${body.metadata.operation_id == operation_id}
    lookup:
      request: {method: GET, path: /v1/events, query: {type: invoice.created, limit: 100}}
      match: ${body.data.filter(e, e.request.idempotency_key == key)}
      more: ${body.has_more}
      id: ${match.data.object.id}
      url: ${env("SANDBOX_URL") + "/billing/view/" + match.data.object.id}
      fits: ${match.data.object.customer == content.customer && match.data.object.amount == string(content.amount)}
      lag: 2s
    look_yourself:
      - {en: The sandbox''s ledger of billing, ja: サンドボックスの請求台帳, pl: Księga rozliczeń w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=billing"}
  create_coupon:
    effect: coupon
    title: {en: Create a coupon, ja: クーポンを作成, pl: Utwórz kupon}
    content:
      type: object
      additionalProperties: false
      required: [code, percent_off, name]
      properties:
        code: {type: string, pattern: "^[A-Z0-9][A-Z0-9-]{2,60}$"}
        percent_off: {type: integer, minimum: 1, maximum: 100}
        name: {type: string, minLength: 1, maxLength: 40}
    request:
      method: POST
      path: /v1/coupons
      form:
        id: ${content.code}
        percent_off: ${content.percent_off}
        name: ${content.name}
        duration: once
        metadata: {operation_id: "{operation_id}"}
    protection:
      key: {header: Idempotency-Key, value: "{key}"}
      retention: 24h
      mismatch: ${status == 400 && body.error.type == "idempotency_error"}
      in_progress: ${status == 409 && body.error.?code.orValue("") == "idempotency_key_in_use"}
      replay: ${header[?"idempotent-replayed"].orValue("") == "true"}
      replays_errors: true
      proven: {on: 2026-11-29, by: two equal calls to the sandbox}
    outcome:
      - {confirmed: ${status == 200 && has(body.id)}}
      - {lookup: ${status == 400 && body.error.?code.orValue("") == "resource_already_exists"}}
      - {not_started: ${status == 429}, code: rate_limited}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status == 400 && body.error.type == "invalid_request_error"}, code: validation, permanent: true}
    reference:
      id: ${body.id}
      url: ${env("SANDBOX_URL") + "/billing/view/" + body.id}
      fits: ${body.id == content.code}
    lookup:
      request: {method: GET, path: "/v1/coupons/${content.code}"}
      by: operation_id
      none: ${status == 404 && body.error.?code.orValue("") == "resource_missing"}
      match: ${body}
      id: ${match.id}
      url: ${env("SANDBOX_URL") + "/billing/view/" + match.id}
      fits: ${match.metadata.?operation_id.orValue("") == operation_id && match.percent_off == string(content.percent_off)}
      authoritative: true
    look_yourself:
      - {en: The sandbox''s ledger of billing, ja: サンドボックスの請求台帳, pl: Księga rozliczeń w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=billing"}
', 'system', '2026-11-29 22:15:55.701563+00'),
	('crm', 2, '\x53b09c74fb888b8cf52571157f17431bbed7de8f5118b6ffa387cb3e7ec27e43', '# The CRM of the sandbox: no idempotency key, but a unique reference that can be read
# back directly. An unknown outcome is settled by that read; a 409 leads there too.
destination: crm
title: {en: CRM (sandbox), ja: CRM（サンドボックス）, pl: CRM (piaskownica)}
kind: http
account: crm-demo
environment: test
base_url: ${env("SANDBOX_URL") + "/crm"}
local: true
auth: {bearer: {env: SANDBOX_TOKEN}}
limits: {concurrency: 8, rate: 50/s, timeout: 5s, body: 256KiB}
settle_after: 1ms
lease: 60s
retry: {max: 5, base: 2s, max_interval: 1m, respect_retry_after: true}
actions:
  create_task:
    effect: task
    title: {en: Create a task, ja: タスクを作成, pl: Utwórz zadanie}
    content:
      type: object
      additionalProperties: false
      required: [subject, due]
      properties:
        subject: {type: string, minLength: 1, maxLength: 200}
        due: {type: string, format: date-time}
        contact: {type: string, maxLength: 200}
        note: {type: string, maxLength: 4000}
    request:
      method: POST
      path: /tasks
      json:
        subject: ${content.subject}
        due: ${content.due}
        contact: ${content.?contact}
        note: ${content.?note}
        reference: "{operation_id}"
    protection: {unique: reference}          # the CRM refuses a second task with our reference: 409
    outcome:
      - {confirmed: ${status == 201 && has(body.id)}}
      - {lookup: ${status == 409}}
      - {not_started: ${status == 400 && body.category == "VALIDATION_ERROR"}, code: validation, permanent: true}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status == 429}, code: rate_limited}
    reference:
      id: ${body.id}
      url: ${body.url}
      fits: ${body.reference == operation_id}
    lookup:
      request: {method: GET, path: "/tasks/by-reference/{operation_id}"}
      by: reference
      answered: ${status in [200, 300]}
      none: ${status == 404 && body.category == "OBJECT_NOT_FOUND"}
      match: "${status == 300 ? body.results : [body]}"
      id: ${match.id}
      url: ${match.url}
      fits: ${match.reference == operation_id && match.subject == content.subject}
      lag: 15s                               # its index is behind: nobody asks sooner
      authoritative: true
    look_yourself:
      - {en: The sandbox''s ledger of the CRM, ja: サンドボックスのCRM台帳, pl: Księga CRM w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=crm"}
', 'system', '2026-11-29 22:15:55.701563+00'),
	('mail', 2, '\xbc3c47388c4291649837934b02c1e7981c2949e90d9f11cf99e9fc3476b9dd58', '# Mail of the sandbox speaks like Resend: a key protects for 24 h, and a tag with the
# operation''s ID finds the mail again. Accepted is not delivered: that comes by callback.
destination: mail
title: {en: Mail (sandbox), ja: メール（サンドボックス）, pl: Poczta (piaskownica)}
kind: http
account: mail-demo
environment: test
base_url: ${env("SANDBOX_URL") + "/mail"}
local: true
auth: {bearer: {env: SANDBOX_TOKEN}}
limits: {concurrency: 8, rate: 50/s, timeout: 5s, body: 256KiB}
settle_after: 1ms
retry: {max: 5, base: 2s, max_interval: 1m, respect_retry_after: true}
actions:
  send:
    effect: email
    title: {en: Send a mail, ja: メールを送信, pl: Wyślij e-mail}
    content:
      type: object
      additionalProperties: false
      required: [to, subject, text]
      properties:
        to: {type: string, format: email}
        subject: {type: string, minLength: 1, maxLength: 200, pattern: "^[^\\r\\n]*$"}
        text: {type: string, minLength: 1, maxLength: 50000}
        html: {type: string, maxLength: 100000}
    request:
      method: POST
      path: /emails
      json:
        from: Demo shop <shop@example.test>
        to: ["${content.to}"]
        subject: ${content.subject}
        text: ${content.text}
        html: ${content.?html}
        tags: [{name: operation_id, value: "{operation_id}"}]
    protection:
      key: {header: Idempotency-Key, value: "{key}"}
      retention: 24h
      mismatch: ${status == 409 && body.name == "invalid_idempotent_request"}
      in_progress: ${status == 409 && body.name == "concurrent_idempotent_requests"}
      proven: {on: 2026-11-29, by: two equal calls to the sandbox}
    outcome:
      - {confirmed: ${status == 200 && has(body.id)}}
      - {not_started: ${status == 429}, code: rate_limited}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status in [400, 422]}, code: validation, permanent: true}
    reference:
      id: ${body.id}
      url: ${env("SANDBOX_URL") + "/mail/view/" + body.id}
    lookup:
      request: {method: GET, path: /emails, query: {tag: "operation_id:{operation_id}", limit: 100}}
      by: tag
      match: ${body.data}
      more: ${body.has_more}
      id: ${match.id}
      url: ${env("SANDBOX_URL") + "/mail/view/" + match.id}
      fits: ${match.subject == content.subject && content.to in match.to}
      lag: 2s
    look_yourself:
      - {en: The sandbox''s ledger of mail, ja: サンドボックスのメール台帳, pl: Księga poczty w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=mail"}
', 'system', '2026-11-29 22:15:55.701563+00'),
	('partner', 2, '\x143d25a902dbf55cf816ba10dd29ba6ba0e483870302aa5eccdebec89ff9f483', '# A partner''s task list (the sandbox''s CRM again). Our own jobs send nothing here: another
# program asks the job API for a permit, sends the approved request itself and reports.
destination: partner
title: {en: Partner (sandbox), ja: パートナー（サンドボックス）, pl: Partner (piaskownica)}
kind: http
account: partner-demo
environment: test
base_url: ${env("SANDBOX_URL") + "/crm"}
local: true
auth: {bearer: {env: SANDBOX_TOKEN}}
performed_by: clients
limits: {concurrency: 4, rate: 20/s, timeout: 5s, body: 256KiB}
settle_after: 1ms
retry: {max: 5, base: 2s, max_interval: 1m}
actions:
  create_task:
    effect: task
    title: {en: Create a task at the partner, ja: パートナーにタスクを作成, pl: Utwórz zadanie u partnera}
    content:
      type: object
      additionalProperties: false
      required: [subject, due]
      properties:
        subject: {type: string, minLength: 1, maxLength: 200}
        due: {type: string, format: date-time}
    request:
      method: POST
      path: /tasks
      json: {subject: "${content.subject}", due: "${content.due}", reference: "{operation_id}"}
    protection: {unique: reference}
    outcome:                                 # what a client may report as not_started stands here
      - {confirmed: ${status == 201 && has(body.id)}}
      - {lookup: ${status == 409}}
      - {not_started: ${status == 400 && body.category == "VALIDATION_ERROR"}, code: validation, permanent: true}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status == 429}, code: rate_limited}
    reference:
      id: ${body.id}
      url: ${body.url}
    lookup:
      request: {method: GET, path: "/tasks/by-reference/{operation_id}"}
      by: reference
      answered: ${status in [200, 300]}
      none: ${status == 404 && body.category == "OBJECT_NOT_FOUND"}
      match: "${status == 300 ? body.results : [body]}"
      id: ${match.id}
      url: ${match.url}
      fits: ${match.reference == operation_id && match.subject == content.subject}
      lag: 15s
      authoritative: true
    look_yourself:
      - {en: The sandbox''s ledger of the CRM, ja: サンドボックスのCRM台帳, pl: Księga CRM w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=crm"}
', 'system', '2026-11-29 22:15:55.701563+00'),
	('plain', 2, '\x272836b279eafde7104801e9803f68433ec0a7fbeb1643a38dcb9ba005fde624', '# The worst case: no key, no unique reference, no way to ask. Whatever is unknown here
# is decided by a person.
destination: plain
title: {en: Plain service (sandbox), ja: 保護のないサービス（サンドボックス）, pl: Zwykła usługa (piaskownica)}
kind: http
account: plain-demo
environment: test
base_url: ${env("SANDBOX_URL") + "/plain"}
local: true
auth: {bearer: {env: SANDBOX_TOKEN}}
limits: {concurrency: 4, rate: 20/s, timeout: 5s, body: 64KiB}
settle_after: 1ms
retry: {max: 3, base: 2s, max_interval: 1m, respect_retry_after: true}
actions:
  create_thing:
    effect: note
    title: {en: Leave a note, ja: メモを残す, pl: Zostaw notatkę}
    content:
      type: object
      additionalProperties: false
      required: [topic, text]
      properties:
        topic: {type: string, minLength: 1, maxLength: 200}
        text: {type: string, minLength: 1, maxLength: 10000}
    request:
      method: POST
      path: /things
      json: {topic: "${content.topic}", text: "${content.text}", reference: "{operation_id}"}
    outcome:
      - {confirmed: ${status == 201 && has(body.id)}}
      - {not_started: ${status in [401, 403]}, code: refused_credentials, permanent: true}
      - {not_started: ${status == 429}, code: rate_limited}
    reference:
      id: ${body.id}
      url: ${env("SANDBOX_URL") + "/plain/view/" + body.id}
    look_yourself:
      - {en: The sandbox''s ledger of the plain service, ja: サンドボックスの台帳, pl: Księga zwykłej usługi w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=plain"}
', 'system', '2026-11-29 22:15:55.701563+00'),
	('smtp', 2, '\x452f97bc1acf2aa753b52f7420541d34829066503ffeeb776159cc0c3aafd98d', '# Mail by plain SMTP: no key and no lookup. The Message-ID carries the operation''s ID,
# so that a person can search the server''s log for it.
destination: smtp
title: {en: SMTP (sandbox), ja: SMTP（サンドボックス）, pl: SMTP (piaskownica)}
kind: smtp
account: smtp-demo
environment: test
local: true
auth: {none: true}
smtp:
  addr: ${env("SANDBOX_SMTP")}
  starttls: off
  from: Demo shop <shop@example.test>
  message_id_domain: sandbox.example.test
limits: {concurrency: 4, rate: 20/s, timeout: 10s, body: 64KiB}
settle_after: 1ms
retry: {max: 3, base: 2s, max_interval: 1m}
actions:
  send:
    effect: email
    title: {en: Send a mail by SMTP, ja: SMTPでメールを送信, pl: Wyślij e-mail przez SMTP}
    content:
      type: object
      additionalProperties: false
      required: [to, subject, text]
      properties:
        to: {type: string, format: email}
        subject: {type: string, minLength: 1, maxLength: 200, pattern: "^[^\\r\\n]*$"}
        text: {type: string, minLength: 1, maxLength: 50000}
        html: {type: string, maxLength: 100000}
    mail:
      to: ${content.to}
      subject: ${content.subject}
      text: ${content.text}
      html: ${content.?html}
      headers: {X-Operation-ID: "{operation_id}"}
    outcome:
      - {confirmed: ${status == 250}}
      - {not_started: ${status >= 500 && status < 600}, code: smtp_refused, permanent: true}
      - {not_started: ${status >= 400 && status < 500}, code: smtp_later}
    reference:
      id: ${operation_id + "@sandbox.example.test"}
      url: ${env("SANDBOX_URL") + "/?reference=" + operation_id}
    look_yourself:
      - {en: The sandbox''s ledger of SMTP, ja: サンドボックスのSMTP台帳, pl: Księga SMTP w piaskownicy, url: "${env(''SANDBOX_URL'')}/?destination=smtp"}
', 'system', '2026-11-29 22:15:55.701563+00');

INSERT INTO public.event_bodies (event_id, body, data) VALUES
	('evt_01m8mp232mem79gg0t45t3qr16', '\x7b22636f6465223a22434f44452d31222c226e616d65223a22436f75706f6e2031222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-1","name":"Coupon 1","percent_off":10}'),
	('evt_01m8mp2348fq68tdmydp3aqp4j', '\x7b22636f6465223a22434f44452d32222c226e616d65223a22436f75706f6e2032222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-2","name":"Coupon 2","percent_off":10}'),
	('evt_01m8mp234bfp0acpxgk4n30y9n', '\x7b22636f6465223a22434f44452d33222c226e616d65223a22436f75706f6e2033222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-3","name":"Coupon 3","percent_off":10}'),
	('evt_01m8mp234df1yvcaz8mmsy8m70', '\x7b2263616d706169676e223a22537072696e67222c22637573746f6d65725f726566223a22432d34222c22656d61696c223a226334406578616d706c652e74657374227d', '{"campaign":"Spring","customer_ref":"C-4","email":"c4@example.test"}'),
	('evt_01m8mp2355em5bc6zwehx4kmby', '\x7b22636f6465223a22434f44452d35222c226e616d65223a22436f75706f6e2035222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-5","name":"Coupon 5","percent_off":10}'),
	('evt_01m8mp235ae94r9050fy7324y3', '\x7b22636f6465223a22434f44452d36222c226e616d65223a22436f75706f6e2036222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-6","name":"Coupon 6","percent_off":10}'),
	('evt_01m8mp235mepg9ph73tt9hnzzg', '\x7b22636f6465223a22434f44452d37222c226e616d65223a22436f75706f6e2037222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-7","name":"Coupon 7","percent_off":10}'),
	('evt_01m8mp2360eamty5rvgng89vjh', '\x7b22636f6465223a22434f44452d38222c226e616d65223a22436f75706f6e2038222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-8","name":"Coupon 8","percent_off":10}'),
	('evt_01m8mp2367fk9rt4sh1xxvnp47', '\x7b22636f6465223a22434f44452d39222c226e616d65223a22436f75706f6e2039222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-9","name":"Coupon 9","percent_off":10}'),
	('evt_01m8mp2377ep7r63h17rd2q40z', '\x7b22636f6465223a22434f44452d3130222c226e616d65223a22436f75706f6e203130222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-10","name":"Coupon 10","percent_off":10}'),
	('evt_01m8mp237veze8bf1tnpmc1shy', '\x7b22636f6465223a22434f44452d3131222c226e616d65223a22436f75706f6e203131222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-11","name":"Coupon 11","percent_off":10}'),
	('evt_01m8mp2383fjdv5278eybs5zst', '\x7b22636f6465223a22434f44452d3132222c226e616d65223a22436f75706f6e203132222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-12","name":"Coupon 12","percent_off":10}'),
	('evt_01m8mp2388f15sxf54j0q4r2by', '\x7b22636f6465223a22434f44452d3133222c226e616d65223a22436f75706f6e203133222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-13","name":"Coupon 13","percent_off":10}'),
	('evt_01m8mp238mf0s9a9yt31hqr49q', '\x7b22636f6465223a22434f44452d3134222c226e616d65223a22436f75706f6e203134222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-14","name":"Coupon 14","percent_off":10}'),
	('evt_01m8mp2393exy910xbx74zzbk6', '\x7b22746f706963223a22546f706963203135227d', '{"topic":"Topic 15"}'),
	('evt_01m8mp2397e18rqj67y13rb6qn', '\x7b22636f6465223a22434f44452d3136222c226e616d65223a22436f75706f6e203136222c2270657263656e745f6f6666223a31307d', '{"code":"CODE-16","name":"Coupon 16","percent_off":10}');

INSERT INTO public.event_runs (event_id, run_id) VALUES
	('evt_01m8mp232mem79gg0t45t3qr16', 'run_1dnm3fqk267jz3nnc9tprsq6g8'),
	('evt_01m8mp2348fq68tdmydp3aqp4j', 'run_2xexk62n57wvxnz5pemsscg679'),
	('evt_01m8mp234bfp0acpxgk4n30y9n', 'run_1bm3w2rcjkdjex0tj4f81eard9'),
	('evt_01m8mp234df1yvcaz8mmsy8m70', 'run_5znnb6m3gcwbzp2v1572ntf06v'),
	('evt_01m8mp2355em5bc6zwehx4kmby', 'run_1n04gaq16vcfp52td4erew81r1'),
	('evt_01m8mp235ae94r9050fy7324y3', 'run_7j9kvc86pxva4azeysq68h3jdg'),
	('evt_01m8mp235mepg9ph73tt9hnzzg', 'run_2b7sjrs77xbj451zewwy6m8enc'),
	('evt_01m8mp2360eamty5rvgng89vjh', 'run_4b06sp8jdk4tbbsbmcg617q0kt'),
	('evt_01m8mp2367fk9rt4sh1xxvnp47', 'run_6d76fq7qj69b40x30k9s5d75yr'),
	('evt_01m8mp2377ep7r63h17rd2q40z', 'run_6tgpfrh4vs8jm50j8tjqadvrdm'),
	('evt_01m8mp237veze8bf1tnpmc1shy', 'run_0rs6s1fqyvam26tet9tpzsk1h8'),
	('evt_01m8mp2383fjdv5278eybs5zst', 'run_0z7fybb8hvqsjzvn6w9bmyfnyr'),
	('evt_01m8mp2388f15sxf54j0q4r2by', 'run_04b6c8hpjxaec5xpn3st5yhp0s'),
	('evt_01m8mp238mf0s9a9yt31hqr49q', 'run_0cw4s9d027r5ye30fch34gq4pb'),
	('evt_01m8mp2393exy910xbx74zzbk6', 'run_468we83r0ygq7fvqc0jwkq5t6t'),
	('evt_01m8mp2397e18rqj67y13rb6qn', 'run_3fa78zcncfnx71gs1rn66zmcvp');

INSERT INTO public.evidence (id, operation_id, attempt_id, kind, result, reference, link, body, given_by, hash, at) VALUES
	('evi_01m8mp237pfbqr064vvttzt82p', 'op_2jpzdxyeqf3037sn3sxd1asq99', NULL, 'statement', '', '', '', 'their log shows nothing', 'usr_01m8mp22tme7mvn8ga072x5yxx', '\x6029fe6cfb24d65bb35029789525b32e39a1afd8eca2c187924a3c457d11d646', '2026-11-29 22:15:55.891498+00'),
	('evi_01m8mp2390f57bag16phn692ae', 'op_16xkhm7ng5z68ebngjhpkqqktj', NULL, 'statement', '', '', '', 'their log shows nothing', 'usr_01m8mp22tme7mvn8ga072x5yxx', '\x6029fe6cfb24d65bb35029789525b32e39a1afd8eca2c187924a3c457d11d646', '2026-11-29 22:15:55.934562+00');

INSERT INTO public.forms_used (operation_id, user_id, form_id, at) VALUES
	('op_2jpzdxyeqf3037sn3sxd1asq99', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ANWSOSRWCSNHTW2KGV7GXBB6DO', '2026-11-29 22:15:55.891498+00'),
	('op_7x50at0m1gpv9md7e3h7zqvt71', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'IIZHRBTO6FVDJ4GOKJHBQ5TLS5', '2026-11-29 22:15:55.921792+00'),
	('op_16xkhm7ng5z68ebngjhpkqqktj', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'WBBG3TZVBTRWZW2BCXSF6ALSTP', '2026-11-29 22:15:55.934562+00');

INSERT INTO public.history (id, subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash) OVERRIDING SYSTEM VALUE VALUES
	(1, 'user', 'usr_01m8mp22t2etvr2s15jjtzw1mc', 1, '2026-11-29 22:15:55.457148+00', 'system', 'system', 'system', '', 'command', 'add_user', '', '', '', '{"email":"admin@example.test"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x7f56605975723b7240db43d44e5640f62a19aa1538a4fa6c8a6e4e003bf545f5'),
	(2, 'user', 'usr_01m8mp22t2etvr2s15jjtzw1mc', 2, '2026-11-29 22:15:55.457148+00', 'system', 'system', 'system', '', 'command', 'grant_role', '', '', '', '{"granted":"admin"}', '', '', '\x7f56605975723b7240db43d44e5640f62a19aa1538a4fa6c8a6e4e003bf545f5', '\x693b6abcfe743ccc7fb5c6b261280fc77eea3399efe86aedf8d8ef57c8a83fba'),
	(3, 'user', 'usr_01m8mp22tceyjarczsgr6vyhht', 1, '2026-11-29 22:15:55.468421+00', 'system', 'system', 'system', '', 'command', 'add_user', '', '', '', '{"email":"author@example.test"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xd17aef6a570b8339ef4bf5e8b3dbbe135b9f37f322fd49b38cce4a0ee4138b94'),
	(4, 'user', 'usr_01m8mp22tceyjarczsgr6vyhht', 2, '2026-11-29 22:15:55.468421+00', 'system', 'system', 'system', '', 'command', 'grant_role', '', '', '', '{"granted":"author"}', '', '', '\xd17aef6a570b8339ef4bf5e8b3dbbe135b9f37f322fd49b38cce4a0ee4138b94', '\xbd2692d987d39fe51a547b34566a6829272a783fae9aa706496194d025662021'),
	(5, 'user', 'usr_01m8mp22tefsq82cym67txak52', 1, '2026-11-29 22:15:55.470833+00', 'system', 'system', 'system', '', 'command', 'add_user', '', '', '', '{"email":"author2@example.test"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xc0a92ee097f635fd7c69041263bb70e52d34e36b25ee829aadd16055bdf8600a'),
	(6, 'user', 'usr_01m8mp22tefsq82cym67txak52', 2, '2026-11-29 22:15:55.470833+00', 'system', 'system', 'system', '', 'command', 'grant_role', '', '', '', '{"granted":"author"}', '', '', '\xc0a92ee097f635fd7c69041263bb70e52d34e36b25ee829aadd16055bdf8600a', '\xad2b1077d6f1f5e784b4ff6a13e3dfa00aa508468302c2c5fd18885e791000d5'),
	(7, 'user', 'usr_01m8mp22tgf9798thbn3zkt3ht', 1, '2026-11-29 22:15:55.472623+00', 'system', 'system', 'system', '', 'command', 'add_user', '', '', '', '{"email":"lead@example.test"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x63d7234a8e5cf68a52344ba72eba8e7a1b10bd78eaaeb00f31fdad87e9526809'),
	(8, 'user', 'usr_01m8mp22tgf9798thbn3zkt3ht', 2, '2026-11-29 22:15:55.472623+00', 'system', 'system', 'system', '', 'command', 'grant_role', '', '', '', '{"granted":"approver"}', '', '', '\x63d7234a8e5cf68a52344ba72eba8e7a1b10bd78eaaeb00f31fdad87e9526809', '\xabcb9bf0e5875f5810224cbfaf69d7cb64337cab1580ebef08b93304863f83c9'),
	(9, 'user', 'usr_01m8mp22tjeknv19zkvapt1ehk', 1, '2026-11-29 22:15:55.474266+00', 'system', 'system', 'system', '', 'command', 'add_user', '', '', '', '{"email":"second@example.test"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x069497ab4919f7071ee48df46c4bda95493ae1b181da89dc24841516c095820a'),
	(10, 'user', 'usr_01m8mp22tjeknv19zkvapt1ehk', 2, '2026-11-29 22:15:55.474266+00', 'system', 'system', 'system', '', 'command', 'grant_role', '', '', '', '{"granted":"approver"}', '', '', '\x069497ab4919f7071ee48df46c4bda95493ae1b181da89dc24841516c095820a', '\x07042f164102a38e739775bb2597d40aab0cdfe71fba6bde9190bc33518a1005'),
	(11, 'user', 'usr_01m8mp22tme7mvn8ga072x5yxx', 1, '2026-11-29 22:15:55.476055+00', 'system', 'system', 'system', '', 'command', 'add_user', '', '', '', '{"email":"ops@example.test"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xb2b1d7bcdaf0c18f82a0c3daa7af92f64163376605aaa02cb92d6e92ee0193e1'),
	(12, 'user', 'usr_01m8mp22tme7mvn8ga072x5yxx', 2, '2026-11-29 22:15:55.476055+00', 'system', 'system', 'system', '', 'command', 'grant_role', '', '', '', '{"granted":"ops_owner"}', '', '', '\xb2b1d7bcdaf0c18f82a0c3daa7af92f64163376605aaa02cb92d6e92ee0193e1', '\x7708fcf7cf4e1ee5759a24ae83d1ef43682a71da27aca1f6f1151c60a56968cb'),
	(13, 'user', 'usr_01m8mp22tnfskvbjdmr8y47bb0', 1, '2026-11-29 22:15:55.477859+00', 'system', 'system', 'system', '', 'command', 'add_user', '', '', '', '{"email":"ops2@example.test"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xde0e9e7f2fa21993a05cf04e1a5ff365dfec669576d8942317e9d1e78e4332e8'),
	(14, 'user', 'usr_01m8mp22tnfskvbjdmr8y47bb0', 2, '2026-11-29 22:15:55.477859+00', 'system', 'system', 'system', '', 'command', 'grant_role', '', '', '', '{"granted":"ops_owner"}', '', '', '\xde0e9e7f2fa21993a05cf04e1a5ff365dfec669576d8942317e9d1e78e4332e8', '\x9f4af76dee9bdc8c8231e8fdd1ecdc7b366908cd5d1aa2c7cc46c4a444ee2fb6'),
	(15, 'user', 'usr_01m8mp22tqfa0avfdqrqf8880a', 1, '2026-11-29 22:15:55.479605+00', 'system', 'system', 'system', '', 'command', 'add_user', '', '', '', '{"email":"auditor@example.test"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xd777312c715876085eb44c1ba67c0fd3a6fdd90306d077ce22ab95b77e7b503a'),
	(16, 'user', 'usr_01m8mp22tqfa0avfdqrqf8880a', 2, '2026-11-29 22:15:55.479605+00', 'system', 'system', 'system', '', 'command', 'grant_role', '', '', '', '{"granted":"auditor"}', '', '', '\xd777312c715876085eb44c1ba67c0fd3a6fdd90306d077ce22ab95b77e7b503a', '\xbfa5de623a31c67d9020cc3b139677fb253959e16bdb26385050972e6f4857d0'),
	(17, 'destination', 'billing', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"billing.yaml","hash":"8b42c3a65153065068446c2f7634232c5f08ba8f343eda543f98fab6e69f82b4","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x87c1fcd8e734fbb5217420606b94e0f9c41309f413ad26fba0e7282cacb071fe'),
	(18, 'destination', 'crm', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"crm.yaml","hash":"2486255f94393f4af09c396a88c01da0bf6ea786225c8a755ba000f3f7d22959","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xf9f339a875779dd282eff8e81c1b29c94639b22a42eedf0beb26fefdbe4731fb'),
	(19, 'destination', 'mail', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"mail.yaml","hash":"d355afbbd717ba697daafbbde4b1415b6a0fcb33f40d120c0b6021a4ea4af884","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xe72e639ddcf3caec5ffc6c9bbed4c399ec7a6e137b799bc9b134ab1a2e44143b'),
	(20, 'destination', 'partner', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"partner.yaml","hash":"33f55000a95ebaad06be12bc4a738e63c4389c6246f94998907a4689560ce8c2","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x4f100dae86d3375bbb718d1312ad860f34ccc60e43a26b09adf911d25a3d5723'),
	(21, 'destination', 'plain', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"plain.yaml","hash":"3a9706baf1b8fa458a84f7d6a60febdc67cf6a05b181f55f850c0bf7e9a5a201","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x6e1a07074c7c3e21b96577147b4d7bf5c79dbab181516fcf7167ecb3ec86db2e'),
	(22, 'destination', 'smtp', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"smtp.yaml","hash":"b1fe6a8e10db4faf6b3362e8e3e76b759d5dbe4f039008862dbbe6cda70dbb75","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x169ffe9b94873c4d32036580314f3d7d5a0cc786b650e261eaf2e6b4eeab526a'),
	(23, 'system', 'installation', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"api.yaml","hash":"cf85b60bc8bdbdf30594042915dc1ebb2109c4185dc58b4e44cec27630cc0806","source":"api","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xb62d841b500dc246fe15e46fc63da701158db9ee84c82f6355404841af3246a2'),
	(24, 'system', 'installation', 2, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"form.yaml","hash":"169fa27cbea090304b42baf1930e958cd3d0b51b3adf011c7f3cfc5da0f84bb6","source":"form","version":"1"}', '', '', '\xb62d841b500dc246fe15e46fc63da701158db9ee84c82f6355404841af3246a2', '\x0658b64260fb292f33891eb673b8bf0667bffce464710430124b744b42128e54'),
	(25, 'system', 'installation', 3, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"shopify-flow.yaml","hash":"1f1cc703103b0c0af37be56e406952a249b26970e842351b650e35c187dcd45a","source":"shopify-flow","version":"1"}', '', '', '\x0658b64260fb292f33891eb673b8bf0667bffce464710430124b744b42128e54', '\xc6a5f959cb01f3ef63d68a3f699c2b1ff2a779b2325125035fbf87260a8aa28c'),
	(26, 'system', 'installation', 4, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"shopify.yaml","hash":"211bbb23babf4a38b8aa70ea63423b772261e3d8acbdf15e31dd4c0dd97db13e","source":"shopify","version":"1"}', '', '', '\xc6a5f959cb01f3ef63d68a3f699c2b1ff2a779b2325125035fbf87260a8aa28c', '\x8ffd237fc9db850130d5664fe7bf5bbdfe470215e3d9f50a0d0356f6a26e04b7'),
	(27, 'flow', 'campaign-follow-up', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"campaign-follow-up.yaml","hash":"ebbe63b751bcdbe142114bef00d4eb3bb85e295f74f3bbcb68b776fdd3feb8ee","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x2b8288834df940d5796b8a7b4ddeb5d2eee836d6ee0404bfd2a570ea05acd4b3'),
	(28, 'flow', 'goodwill-invoice', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"goodwill-invoice.yaml","hash":"0caf4456cd31f39973c55664dbc24b63436249f347be5d8cb829d446fe0064c5","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xe165f89a098cf7d2215c886de4621000a6c56517a23f866b28e7cc17ebda1617'),
	(29, 'flow', 'newsletter-coupon', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"newsletter-coupon.yaml","hash":"1e94628a5689fe86394eeb61b213ef13e829af3c481a596ac81e1b72b8b6fdf5","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xf5d5ba643fa3f22ba2645f84f55527e977d18782702995b6af36caa30979d618'),
	(30, 'flow', 'partner-task', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"partner-task.yaml","hash":"1594651378c262122aa2c5f52d43bc235b3af9b6adcba400d9277d3beb19a494","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x23d4c284681da58c8359f2c32c2a6217824485bb1c91e0c10fa9cb9a7975e943'),
	(31, 'flow', 'plain-note', 1, '2026-11-29 22:15:55.516112+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"plain-note.yaml","hash":"a685d6efb85aa474d66c1d20335ba49516861de5ab20ba887642ba08f9055abe","version":"1"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x110d9cbe8763691ebfa681ef19c67076e7c95f6b7b2ee1f248920f7c7abfeac7'),
	(32, 'destination', 'billing', 2, '2026-11-29 22:15:55.701563+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"billing.yaml","hash":"d8576985a76b1c4bfa7c9c84c16e35d9b5f5af5ec450f558764a5e441f638807","version":"2"}', '', '', '\x87c1fcd8e734fbb5217420606b94e0f9c41309f413ad26fba0e7282cacb071fe', '\xc24014f2c179507585ffdc6aede15721ea05a3ac5c99d950f9fea3d42e981f7d'),
	(33, 'destination', 'crm', 2, '2026-11-29 22:15:55.701563+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"crm.yaml","hash":"53b09c74fb888b8cf52571157f17431bbed7de8f5118b6ffa387cb3e7ec27e43","version":"2"}', '', '', '\xf9f339a875779dd282eff8e81c1b29c94639b22a42eedf0beb26fefdbe4731fb', '\x9329c11987f8b23ad75e6647b35ca61fb1244d6bf7b16e54411f3f1fdafcd3e1'),
	(34, 'destination', 'mail', 2, '2026-11-29 22:15:55.701563+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"mail.yaml","hash":"bc3c47388c4291649837934b02c1e7981c2949e90d9f11cf99e9fc3476b9dd58","version":"2"}', '', '', '\xe72e639ddcf3caec5ffc6c9bbed4c399ec7a6e137b799bc9b134ab1a2e44143b', '\x10c3c0a7c182ca0d77a6ae90d6da2f126508365268dd41f10d5028e4fe24031c'),
	(35, 'destination', 'partner', 2, '2026-11-29 22:15:55.701563+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"partner.yaml","hash":"143d25a902dbf55cf816ba10dd29ba6ba0e483870302aa5eccdebec89ff9f483","version":"2"}', '', '', '\x4f100dae86d3375bbb718d1312ad860f34ccc60e43a26b09adf911d25a3d5723', '\x27a5ed6ac38f21200bc9be68039d49a856eb4ddb8a4ca917e4d21ad65fec16dd'),
	(36, 'destination', 'plain', 2, '2026-11-29 22:15:55.701563+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"plain.yaml","hash":"272836b279eafde7104801e9803f68433ec0a7fbeb1643a38dcb9ba005fde624","version":"2"}', '', '', '\x6e1a07074c7c3e21b96577147b4d7bf5c79dbab181516fcf7167ecb3ec86db2e', '\xc7e815ad9d14f0e9154d9b8a2e7719690f2c6896b59c618944673cb27e4fa53e'),
	(37, 'destination', 'smtp', 2, '2026-11-29 22:15:55.701563+00', 'system', 'system', 'system', '', 'command', 'apply', '', '', '', '{"file":"smtp.yaml","hash":"452f97bc1acf2aa753b52f7420541d34829066503ffeeb776159cc0c3aafd98d","version":"2"}', '', '', '\x169ffe9b94873c4d32036580314f3d7d5a0cc786b650e261eaf2e6b4eeab526a', '\xda8cb0ac72e33796a34af6fdf133e08027449cd683060a76bb7908badaab98d0'),
	(38, 'operation', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 1, '2026-11-29 22:15:55.733539+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp232mem79gg0t45t3qr16","run":"run_1dnm3fqk267jz3nnc9tprsq6g8"}', 'ver_01m8mp232zfd0rjeesndadrb5q', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xd65f243cd6e38aaad6f0edf8c38745e05a488d5d9297e46e1abfb5fee4d0eeb5'),
	(39, 'operation', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 2, '2026-11-29 22:15:55.759771+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'clear', 'pending_approval', 'ready', '', '{"approval":"apr_01m8mp233gevda46zkh8a2ctvg","clearance":"clr_01m8mp233gevps3a0074pfqbs4"}', 'ver_01m8mp232zfd0rjeesndadrb5q', '', '\xd65f243cd6e38aaad6f0edf8c38745e05a488d5d9297e46e1abfb5fee4d0eeb5', '\x4d473bf4af6a5657c3563d6f047ed6b923bb984523e95da2146684cd48f857e2'),
	(40, 'operation', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 3, '2026-11-29 22:15:55.769191+00', 'job', 'hand', 'hand', '', 'job', 'claim', 'ready', 'in_progress', '', '{"attempt":"att_01m8mp233sf7rabe0cna25k3hz","kind":"first","worker":"hand"}', 'ver_01m8mp232zfd0rjeesndadrb5q', '', '\x4d473bf4af6a5657c3563d6f047ed6b923bb984523e95da2146684cd48f857e2', '\x824d02860d43461f0427a7b8b23d11d88a4b32e0458e327414ef0fd399eae2f1'),
	(41, 'operation', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 4, '2026-11-29 22:15:55.769191+00', 'job', 'hand', 'hand', '', 'job', 'dispatch', 'in_progress', 'in_progress', '', '{"attempt":"att_01m8mp233sf7rabe0cna25k3hz","request":"745efe2a9f28592424f5af33b5f0cef10f641a971534e7c9fb657666a1a6d582"}', 'ver_01m8mp232zfd0rjeesndadrb5q', '', '\x824d02860d43461f0427a7b8b23d11d88a4b32e0458e327414ef0fd399eae2f1', '\x83eb81f907a8187540b252dbd1bfa56272d1b2748695e64c20fc298fd1b50558'),
	(42, 'operation', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 5, '2026-11-29 22:15:55.776504+00', 'job', 'hand', 'hand', '', 'job', 'not_started', 'in_progress', 'retry_scheduled', 'rate_limited', '{"attempt":"att_01m8mp233sf7rabe0cna25k3hz","code":"rate_limited"}', 'ver_01m8mp232zfd0rjeesndadrb5q', '', '\x83eb81f907a8187540b252dbd1bfa56272d1b2748695e64c20fc298fd1b50558', '\x9fc4f2f71247c683e8e2cf41b5fee4022e803e52458dddf76f32582c5423fd09'),
	(43, 'operation', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 6, '2026-11-29 22:15:55.781385+00', 'person', 'usr_01m8mp22tceyjarczsgr6vyhht', 'author', '', 'web', 'edit', 'retry_scheduled', 'draft', '', '{}', 'ver_01m8mp232zfd0rjeesndadrb5q', '', '\x9fc4f2f71247c683e8e2cf41b5fee4022e803e52458dddf76f32582c5423fd09', '\xaef80f43207fab87b61a976d4d63bb464961aa3f113e83a124722b252bb3f205'),
	(44, 'operation', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 7, '2026-11-29 22:15:55.781385+00', 'person', 'usr_01m8mp22tceyjarczsgr6vyhht', 'author', '', 'web', 'new_version', 'draft', 'draft', '', '{"author_kind":"person","version":"ver_01m8mp2346eyn9xbx3cpqt4sz9"}', 'ver_01m8mp2346eyn9xbx3cpqt4sz9', '', '\xaef80f43207fab87b61a976d4d63bb464961aa3f113e83a124722b252bb3f205', '\x837458c3ec43c193ce2ee0b643fb143a661a8f3a966a4b7d61a3cc4f5c18594b'),
	(45, 'operation', 'op_5a580wbg81khexmfv54faqy2k0', 1, '2026-11-29 22:15:55.785386+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp2348fq68tdmydp3aqp4j","run":"run_2xexk62n57wvxnz5pemsscg679"}', 'ver_01m8mp2349fdyr5afj5kgpwf07', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xc36721788db3bcf79217ebd81243516da871ba3a3be5233819adbdb5a33c2a17'),
	(46, 'operation', 'op_4e1rrh9qp43fxrf0b4fq7g1jvb', 1, '2026-11-29 22:15:55.788081+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp234bfp0acpxgk4n30y9n","run":"run_1bm3w2rcjkdjex0tj4f81eard9"}', 'ver_01m8mp234cetxrf45bvwcwbn94', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xc90ba8e5f224ecd0d09e655450ceed72184b1d499f6fcb6a154785b95e1994c1'),
	(47, 'operation', 'op_5xaex9y8tsq9vge61aseae1j2a', 1, '2026-11-29 22:15:55.789724+00', 'system', 'system', 'system', '', 'api', 'create', '', 'draft', '', '{"event":"evt_01m8mp234df1yvcaz8mmsy8m70","run":"run_5znnb6m3gcwbzp2v1572ntf06v"}', 'ver_01m8mp234kf0trkrd5j0dawps5', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x4c03fe36d7e287b9024415561e5bec68b3f30eec2e5c176e6eaa1f673625964c'),
	(48, 'operation', 'op_7fkd1jqwqwnpwaxtzb1r90z4ha', 1, '2026-11-29 22:15:55.789724+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp234df1yvcaz8mmsy8m70","run":"run_5znnb6m3gcwbzp2v1572ntf06v"}', 'ver_01m8mp234gej78epn3ah7ak3tx', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xc7041fc05b7cb71108cb662118f9b40d82ed57f10abcb26762926901d4e7a42b'),
	(49, 'operation', 'op_5xaex9y8tsq9vge61aseae1j2a', 2, '2026-11-29 22:15:55.799408+00', 'person', 'usr_01m8mp22tceyjarczsgr6vyhht', 'author', '', 'web', 'new_version', 'draft', 'draft', '', '{"author_kind":"person","version":"ver_01m8mp234rfhrtd034f29tzh70"}', 'ver_01m8mp234rfhrtd034f29tzh70', '', '\x4c03fe36d7e287b9024415561e5bec68b3f30eec2e5c176e6eaa1f673625964c', '\xefd4870a4c4db5b88ad6e5d419965c23fda0ec6ec86aa00cc892cd971166746f'),
	(50, 'operation', 'op_5xaex9y8tsq9vge61aseae1j2a', 3, '2026-11-29 22:15:55.799408+00', 'person', 'usr_01m8mp22tceyjarczsgr6vyhht', 'author', '', 'web', 'submit', 'draft', 'pending_approval', '', '{"version":"ver_01m8mp234rfhrtd034f29tzh70"}', 'ver_01m8mp234rfhrtd034f29tzh70', '', '\xefd4870a4c4db5b88ad6e5d419965c23fda0ec6ec86aa00cc892cd971166746f', '\x16a6f8a7455da4ef4cf0120c5d4e0f5cbce548f8e73557666b42907c905c1eb2'),
	(51, 'operation', 'op_5xaex9y8tsq9vge61aseae1j2a', 4, '2026-11-29 22:15:55.807691+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'approve', 'pending_approval', 'pending_approval', '', '{"approval":"apr_01m8mp234zfwh8rf796tt8vsvx"}', 'ver_01m8mp234rfhrtd034f29tzh70', '', '\x16a6f8a7455da4ef4cf0120c5d4e0f5cbce548f8e73557666b42907c905c1eb2', '\xc4ba47c9e984610701c0befe9bea4d09425fd392b3633a8dc6ece45710bba8e8'),
	(52, 'operation', 'op_5xaex9y8tsq9vge61aseae1j2a', 5, '2026-11-29 22:15:55.810223+00', 'person', 'usr_01m8mp22tjeknv19zkvapt1ehk', 'second', 'approver', 'web', 'clear_to_wait', 'pending_approval', 'waiting', '', '{"approval":"apr_01m8mp2352evv8jdcsyz745tmp","clearance":"clr_01m8mp2352ew4sdy3e9hthvpzp"}', 'ver_01m8mp234rfhrtd034f29tzh70', '', '\xc4ba47c9e984610701c0befe9bea4d09425fd392b3633a8dc6ece45710bba8e8', '\x63c7b2e95ecc1c0db6d7f670b349a5341b0913790f502cbdc9efa7eaebb0f898'),
	(53, 'operation', 'op_4q1nqye6jmcjye89ndtgebh468', 1, '2026-11-29 22:15:55.81346+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp2355em5bc6zwehx4kmby","run":"run_1n04gaq16vcfp52td4erew81r1"}', 'ver_01m8mp2355ff0968v024cddfh1', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x14a12d5a990f1556f998d040fb23d31f015cc05410efd53b43417b8d42078c18'),
	(54, 'operation', 'op_4q1nqye6jmcjye89ndtgebh468', 2, '2026-11-29 22:15:55.81559+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'clear', 'pending_approval', 'ready', '', '{"approval":"apr_01m8mp2357fg2vesbmhbqpjgvh","clearance":"clr_01m8mp2357fgaa98s0dydn6c2d"}', 'ver_01m8mp2355ff0968v024cddfh1', '', '\x14a12d5a990f1556f998d040fb23d31f015cc05410efd53b43417b8d42078c18', '\x63292ca7187d1814368cbe363924f9ea0a4047ce6e6d5a654849ccf6f56a762b'),
	(55, 'operation', 'op_0n1cf6f3zazrc10esjxbdyed06', 1, '2026-11-29 22:15:55.818304+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp235ae94r9050fy7324y3","run":"run_7j9kvc86pxva4azeysq68h3jdg"}', 'ver_01m8mp235af55rqcwydb25qp2c', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xc458bca50cefc0834166a348c450aa898c0b722225ce42f3a044a6d17e8d170c'),
	(56, 'operation', 'op_0n1cf6f3zazrc10esjxbdyed06', 2, '2026-11-29 22:15:55.820607+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'clear', 'pending_approval', 'ready', '', '{"approval":"apr_01m8mp235cfkmvmrm40aa0c2gn","clearance":"clr_01m8mp235cfkys48b72wz5t5ef"}', 'ver_01m8mp235af55rqcwydb25qp2c', '', '\xc458bca50cefc0834166a348c450aa898c0b722225ce42f3a044a6d17e8d170c', '\x83b7702c95ca6e9d42d96d18f387d2ce0a087ec20d0c2e327228607bb8230941'),
	(57, 'operation', 'op_0n1cf6f3zazrc10esjxbdyed06', 3, '2026-11-29 22:15:55.825819+00', 'job', 'hand', 'hand', '', 'job', 'claim', 'ready', 'in_progress', '', '{"attempt":"att_01m8mp235je84b5ahq1gkymh54","kind":"first","worker":"hand"}', 'ver_01m8mp235af55rqcwydb25qp2c', '', '\x83b7702c95ca6e9d42d96d18f387d2ce0a087ec20d0c2e327228607bb8230941', '\xd10bdbe9253fe1d17f734db55f4f554f60f6df1370a567d5fc0a90ef89a1df73'),
	(58, 'operation', 'op_0n1cf6f3zazrc10esjxbdyed06', 4, '2026-11-29 22:15:55.825819+00', 'job', 'hand', 'hand', '', 'job', 'dispatch', 'in_progress', 'in_progress', '', '{"attempt":"att_01m8mp235je84b5ahq1gkymh54","request":"5cee26c17fbb2ea273db10059454d4cf33479784b592a61cbf5841210cf411cc"}', 'ver_01m8mp235af55rqcwydb25qp2c', '', '\xd10bdbe9253fe1d17f734db55f4f554f60f6df1370a567d5fc0a90ef89a1df73', '\xec891d6df2e51e1123b7a398d2f16bd9b4b47049071f514fb8f92273af6ce7d8'),
	(59, 'operation', 'op_5ghh29qqrmfsncqscenb4wf5r7', 1, '2026-11-29 22:15:55.828528+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp235mepg9ph73tt9hnzzg","run":"run_2b7sjrs77xbj451zewwy6m8enc"}', 'ver_01m8mp235mfm8bbpnb0dknf1vb', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xba1f727e2963d5dccc08360047baeb97f978f558d8812d9985e1cc5ae58782b9'),
	(60, 'operation', 'op_5ghh29qqrmfsncqscenb4wf5r7', 2, '2026-11-29 22:15:55.830581+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'clear', 'pending_approval', 'ready', '', '{"approval":"apr_01m8mp235pff4b65k8gbvzx91r","clearance":"clr_01m8mp235pffctx4c10dq0aavc"}', 'ver_01m8mp235mfm8bbpnb0dknf1vb', '', '\xba1f727e2963d5dccc08360047baeb97f978f558d8812d9985e1cc5ae58782b9', '\x43b9149821e7b44ecb5ba36a64ee86a6667d6d1eff0fcbcf57bf43c3269e3779'),
	(61, 'operation', 'op_5ghh29qqrmfsncqscenb4wf5r7', 3, '2026-11-29 22:15:55.832192+00', 'job', 'hand', 'hand', '', 'job', 'claim', 'ready', 'in_progress', '', '{"attempt":"att_01m8mp235reymskdv4n65fmy83","kind":"first","worker":"hand"}', 'ver_01m8mp235mfm8bbpnb0dknf1vb', '', '\x43b9149821e7b44ecb5ba36a64ee86a6667d6d1eff0fcbcf57bf43c3269e3779', '\x5cb9498f3243fac5c9a6407e86655879a8adfe3a039978f7de9bbd00b1f1457d'),
	(62, 'operation', 'op_5ghh29qqrmfsncqscenb4wf5r7', 4, '2026-11-29 22:15:55.832192+00', 'job', 'hand', 'hand', '', 'job', 'dispatch', 'in_progress', 'in_progress', '', '{"attempt":"att_01m8mp235reymskdv4n65fmy83","request":"c009645fbbe76d85b069457344e30e7cf60ae9e5b78ca5c0c0e6c5709434310b"}', 'ver_01m8mp235mfm8bbpnb0dknf1vb', '', '\x5cb9498f3243fac5c9a6407e86655879a8adfe3a039978f7de9bbd00b1f1457d', '\x35acf45685a014730342becede62ce19ce8d731f204e538b3aecbe4cd53543e2'),
	(63, 'operation', 'op_5ghh29qqrmfsncqscenb4wf5r7', 5, '2026-11-29 22:15:55.83777+00', 'job', 'hand', 'hand', '', 'job', 'not_started', 'in_progress', 'retry_scheduled', 'rate_limited', '{"attempt":"att_01m8mp235reymskdv4n65fmy83","code":"rate_limited"}', 'ver_01m8mp235mfm8bbpnb0dknf1vb', '', '\x35acf45685a014730342becede62ce19ce8d731f204e538b3aecbe4cd53543e2', '\x154b8d41e1e35390d5a8b6a9e58ca9dfa5054cb77dcf13d32c7dff095f54d585'),
	(64, 'operation', 'op_22x4mc535avmxpcqm0sbge5s4p', 1, '2026-11-29 22:15:55.840304+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp2360eamty5rvgng89vjh","run":"run_4b06sp8jdk4tbbsbmcg617q0kt"}', 'ver_01m8mp2360f66bga31kmeph8y1', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x6519a0b4d1217960516ee07fbede5a42aa674bda75c4af5d9423ad6cf18b08ca'),
	(65, 'operation', 'op_22x4mc535avmxpcqm0sbge5s4p', 2, '2026-11-29 22:15:55.84243+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'clear', 'pending_approval', 'ready', '', '{"approval":"apr_01m8mp2362f7k85ykph7tm5kep","clearance":"clr_01m8mp2362f7v89n9byxea47sw"}', 'ver_01m8mp2360f66bga31kmeph8y1', '', '\x6519a0b4d1217960516ee07fbede5a42aa674bda75c4af5d9423ad6cf18b08ca', '\x41c3a5f57ee2ea8132c6f62969af45619717d3f832cbfd003ec056c8c1a5356c'),
	(66, 'operation', 'op_22x4mc535avmxpcqm0sbge5s4p', 3, '2026-11-29 22:15:55.843944+00', 'job', 'hand', 'hand', '', 'job', 'claim', 'ready', 'in_progress', '', '{"attempt":"att_01m8mp2364ecstnjb2m8ch0a5y","kind":"first","worker":"hand"}', 'ver_01m8mp2360f66bga31kmeph8y1', '', '\x41c3a5f57ee2ea8132c6f62969af45619717d3f832cbfd003ec056c8c1a5356c', '\x6cd834b0a61008ebf2a1d46b8dc5fd283316ca65c9d8c55e204c18110530a4df'),
	(67, 'operation', 'op_22x4mc535avmxpcqm0sbge5s4p', 4, '2026-11-29 22:15:55.843944+00', 'job', 'hand', 'hand', '', 'job', 'dispatch', 'in_progress', 'in_progress', '', '{"attempt":"att_01m8mp2364ecstnjb2m8ch0a5y","request":"d124db343295eefa04d12550a8bfb197f825a392acec26918594991c3fde5e26"}', 'ver_01m8mp2360f66bga31kmeph8y1', '', '\x6cd834b0a61008ebf2a1d46b8dc5fd283316ca65c9d8c55e204c18110530a4df', '\x28b26821f3e931a64536452097996a18216d54ed50cdb17d02c6f64a5e91eb03'),
	(68, 'operation', 'op_22x4mc535avmxpcqm0sbge5s4p', 5, '2026-11-29 22:15:55.845557+00', 'job', 'hand', 'hand', '', 'job', 'unknown', 'in_progress', 'unknown', 'timeout', '{"attempt":"att_01m8mp2364ecstnjb2m8ch0a5y","code":"timeout"}', 'ver_01m8mp2360f66bga31kmeph8y1', '', '\x28b26821f3e931a64536452097996a18216d54ed50cdb17d02c6f64a5e91eb03', '\x01bf4cc181908e6a8d959de81090cc1214d1f93e8f60e487440637b25eacc3eb'),
	(69, 'operation', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 1, '2026-11-29 22:15:55.849219+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp2367fk9rt4sh1xxvnp47","run":"run_6d76fq7qj69b40x30k9s5d75yr"}', 'ver_01m8mp2369f2jaab1qkm6vdjys', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x1483cb451bc4f224e92201a510ab8d185b26b6f5117484f789bfa1540f8b831d'),
	(70, 'operation', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 2, '2026-11-29 22:15:55.862721+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'clear', 'pending_approval', 'ready', '', '{"approval":"apr_01m8mp236qe37957wdt162q381","clearance":"clr_01m8mp236qe3n8hjh0e4xqh6w7"}', 'ver_01m8mp2369f2jaab1qkm6vdjys', '', '\x1483cb451bc4f224e92201a510ab8d185b26b6f5117484f789bfa1540f8b831d', '\xbad0a7c1d840f9b999577b276876d4c5b179c39e68230a84afa99f732642028c'),
	(71, 'operation', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 3, '2026-11-29 22:15:55.869846+00', 'job', 'hand', 'hand', '', 'job', 'claim', 'ready', 'in_progress', '', '{"attempt":"att_01m8mp236ye9n8k5b63sg75bd2","kind":"first","worker":"hand"}', 'ver_01m8mp2369f2jaab1qkm6vdjys', '', '\xbad0a7c1d840f9b999577b276876d4c5b179c39e68230a84afa99f732642028c', '\x4857e6593f791598408de5ff1c90227dcf9cdbd838cb14b4ba0232523cf3aeb7'),
	(72, 'operation', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 4, '2026-11-29 22:15:55.869846+00', 'job', 'hand', 'hand', '', 'job', 'dispatch', 'in_progress', 'in_progress', '', '{"attempt":"att_01m8mp236ye9n8k5b63sg75bd2","request":"b2a202ae31429aa84de4042750a2580800ab9248637e8704eef975f9feb3d344"}', 'ver_01m8mp2369f2jaab1qkm6vdjys', '', '\x4857e6593f791598408de5ff1c90227dcf9cdbd838cb14b4ba0232523cf3aeb7', '\x30cf6aad3064d5064f7e333fa4aa7890e655c8469ead908c10c9d3f89a7d032d'),
	(73, 'operation', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 5, '2026-11-29 22:15:55.876719+00', 'job', 'hand', 'hand', '', 'job', 'unknown', 'in_progress', 'unknown', 'mismatch', '{"attempt":"att_01m8mp236ye9n8k5b63sg75bd2","code":"mismatch"}', 'ver_01m8mp2369f2jaab1qkm6vdjys', '', '\x30cf6aad3064d5064f7e333fa4aa7890e655c8469ead908c10c9d3f89a7d032d', '\x14f0ad700d4d7554b890ac667e60dc332a3fcdadb7ff5437fbb5668068399bb3'),
	(74, 'operation', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 6, '2026-11-29 22:15:55.876719+00', 'job', 'hand', 'hand', '', 'job', 'escalate', 'unknown', 'review', 'content_differs', '{"attempt":"att_01m8mp236ye9n8k5b63sg75bd2","code":"mismatch"}', 'ver_01m8mp2369f2jaab1qkm6vdjys', '', '\x14f0ad700d4d7554b890ac667e60dc332a3fcdadb7ff5437fbb5668068399bb3', '\xfc8cdfa860faa1e856ec206d9d8bfbee933c5f7a9a86d29b66ea9deabc4b7770'),
	(75, 'operation', 'op_2jpzdxyeqf3037sn3sxd1asq99', 1, '2026-11-29 22:15:55.879622+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp2377ep7r63h17rd2q40z","run":"run_6tgpfrh4vs8jm50j8tjqadvrdm"}', 'ver_01m8mp2377ftna0ywmeybmf7pg', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xae486f85dcc752723519669993115e72762166b935c1b6801cbcb7d70323d369'),
	(76, 'operation', 'op_2jpzdxyeqf3037sn3sxd1asq99', 2, '2026-11-29 22:15:55.882467+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'clear', 'pending_approval', 'ready', '', '{"approval":"apr_01m8mp237afg2v5zarjv64jpp1","clearance":"clr_01m8mp237afgfty9w598q63yj4"}', 'ver_01m8mp2377ftna0ywmeybmf7pg', '', '\xae486f85dcc752723519669993115e72762166b935c1b6801cbcb7d70323d369', '\x2039206934294fbea04232966c1731e89691481b7c81d208d086e67a96376aef'),
	(77, 'operation', 'op_2jpzdxyeqf3037sn3sxd1asq99', 3, '2026-11-29 22:15:55.884618+00', 'job', 'hand', 'hand', '', 'job', 'claim', 'ready', 'in_progress', '', '{"attempt":"att_01m8mp237cfsk8jg50s0yk76a9","kind":"first","worker":"hand"}', 'ver_01m8mp2377ftna0ywmeybmf7pg', '', '\x2039206934294fbea04232966c1731e89691481b7c81d208d086e67a96376aef', '\x9c9f26490ce9360d3d45525b43fafc36df21b8e621736c9d92ac1218e14d5287'),
	(78, 'operation', 'op_2jpzdxyeqf3037sn3sxd1asq99', 4, '2026-11-29 22:15:55.884618+00', 'job', 'hand', 'hand', '', 'job', 'dispatch', 'in_progress', 'in_progress', '', '{"attempt":"att_01m8mp237cfsk8jg50s0yk76a9","request":"f814bbf39b12d1815de20af33331c5f2e05d4a3b583cf9eab90c3f01a9c4043a"}', 'ver_01m8mp2377ftna0ywmeybmf7pg', '', '\x9c9f26490ce9360d3d45525b43fafc36df21b8e621736c9d92ac1218e14d5287', '\xc535e3f1f66450952ff7165f359628b3cf70e6514456b7ac50992cfc56642eec'),
	(79, 'operation', 'op_2jpzdxyeqf3037sn3sxd1asq99', 5, '2026-11-29 22:15:55.886522+00', 'job', 'hand', 'hand', '', 'job', 'unknown', 'in_progress', 'unknown', 'timeout', '{"attempt":"att_01m8mp237cfsk8jg50s0yk76a9","code":"timeout"}', 'ver_01m8mp2377ftna0ywmeybmf7pg', '', '\xc535e3f1f66450952ff7165f359628b3cf70e6514456b7ac50992cfc56642eec', '\x39e1eada8ded031bf59434f00f8f6ff040ed88abbb42ce8d76473ef36c4e80a4'),
	(80, 'operation', 'op_2jpzdxyeqf3037sn3sxd1asq99', 6, '2026-11-29 22:15:55.891498+00', 'person', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ops', 'ops_owner', 'web', 'checklist', 'unknown', 'unknown', '', '{}', 'ver_01m8mp2377ftna0ywmeybmf7pg', '', '\x39e1eada8ded031bf59434f00f8f6ff040ed88abbb42ce8d76473ef36c4e80a4', '\x501598467a9cc49840b5377543d8adcc99be4017fddb72055bb57ed2a5316a69'),
	(81, 'operation', 'op_2jpzdxyeqf3037sn3sxd1asq99', 7, '2026-11-29 22:15:55.891498+00', 'person', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ops', '', 'web', 'escalate', 'unknown', 'review', 'settled by a person', '{}', 'ver_01m8mp2377ftna0ywmeybmf7pg', '', '\x501598467a9cc49840b5377543d8adcc99be4017fddb72055bb57ed2a5316a69', '\x37d387b00fd73ae312955782d0e2ea8e69ef4b0f44a43c3dfa41617709d1ab33'),
	(82, 'operation', 'op_2jpzdxyeqf3037sn3sxd1asq99', 8, '2026-11-29 22:15:55.891498+00', 'person', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ops', 'ops_owner', 'web', 'confirmed_not_done', 'review', 'review', 'their log shows nothing', '{}', 'ver_01m8mp2377ftna0ywmeybmf7pg', '6029fe6cfb24d65bb35029789525b32e39a1afd8eca2c187924a3c457d11d646', '\x37d387b00fd73ae312955782d0e2ea8e69ef4b0f44a43c3dfa41617709d1ab33', '\x4dfd2e019e24489ae20e2b453b22d32144d1a0d48a502f7c0a1ef70693bc80b0'),
	(83, 'operation', 'op_2jpzdxyeqf3037sn3sxd1asq99', 9, '2026-11-29 22:15:55.891498+00', 'person', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ops', 'ops_owner', 'web', 'request_reexecution', 'review', 'reexecution_requested', 'their log shows nothing', '{"request":"req_01m8mp237qej6rbec4dj5d7601"}', 'ver_01m8mp2377ftna0ywmeybmf7pg', '', '\x4dfd2e019e24489ae20e2b453b22d32144d1a0d48a502f7c0a1ef70693bc80b0', '\x4ed6c87665ec17bac6d553c8d03818a18cc84ef4a296e5f5a63e447caf8f85cb'),
	(84, 'operation', 'op_09chq6zxpq5m4t2hxbcqxr33mr', 1, '2026-11-29 22:15:55.89969+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp237veze8bf1tnpmc1shy","run":"run_0rs6s1fqyvam26tet9tpzsk1h8"}', 'ver_01m8mp237vfwqsghawrg6j6xp8', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x8a66815074ecf6e134b4c2fc4eefac7fb043559e6b906b4a7821d797fe4136d4'),
	(85, 'operation', 'op_09chq6zxpq5m4t2hxbcqxr33mr', 2, '2026-11-29 22:15:55.902093+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'clear', 'pending_approval', 'ready', '', '{"approval":"apr_01m8mp237yengbw68hd54nmg07","clearance":"clr_01m8mp237yenxt1h83b7y6j041"}', 'ver_01m8mp237vfwqsghawrg6j6xp8', '', '\x8a66815074ecf6e134b4c2fc4eefac7fb043559e6b906b4a7821d797fe4136d4', '\xc4f0516b473d0b5457b259620e6f79951e71d725a3f13c31f9eb10a8cb192950'),
	(86, 'operation', 'op_09chq6zxpq5m4t2hxbcqxr33mr', 3, '2026-11-29 22:15:55.903736+00', 'job', 'hand', 'hand', '', 'job', 'claim', 'ready', 'in_progress', '', '{"attempt":"att_01m8mp237zftnr0nz9er07qznc","kind":"first","worker":"hand"}', 'ver_01m8mp237vfwqsghawrg6j6xp8', '', '\xc4f0516b473d0b5457b259620e6f79951e71d725a3f13c31f9eb10a8cb192950', '\x77361bea4d25759ccc1a139794d5f0413d4ec0680340461d1f023226f26cec3d'),
	(87, 'operation', 'op_09chq6zxpq5m4t2hxbcqxr33mr', 4, '2026-11-29 22:15:55.903736+00', 'job', 'hand', 'hand', '', 'job', 'dispatch', 'in_progress', 'in_progress', '', '{"attempt":"att_01m8mp237zftnr0nz9er07qznc","request":"3ccd104c75ef621496c61a9d90510e1224b321dadbfe7312740b6ce9bff5a58a"}', 'ver_01m8mp237vfwqsghawrg6j6xp8', '', '\x77361bea4d25759ccc1a139794d5f0413d4ec0680340461d1f023226f26cec3d', '\xa21b1cceda25ab86eeed6fcc8a03bcf0b188dc7bac9009d25cb486d4a36aa108'),
	(88, 'operation', 'op_09chq6zxpq5m4t2hxbcqxr33mr', 5, '2026-11-29 22:15:55.905231+00', 'job', 'hand', 'hand', '', 'job', 'effect', 'in_progress', 'confirmed', '', '{"attempt":"att_01m8mp237zftnr0nz9er07qznc","by":"destination","code":"confirmed","reference":"there-op_09chq6zxpq5m4t2hxbcqxr33mr"}', 'ver_01m8mp237vfwqsghawrg6j6xp8', '', '\xa21b1cceda25ab86eeed6fcc8a03bcf0b188dc7bac9009d25cb486d4a36aa108', '\xa3f40acc408d1d5f55024a283051d17bdeeaaed6885250371e1c3d48d7165ef4'),
	(89, 'run', 'run_0rs6s1fqyvam26tet9tpzsk1h8', 1, '2026-11-29 22:15:55.905231+00', 'job', 'hand', 'hand', '', 'job', 'run_completed', 'open', 'completed', '', '{"operation":"op_09chq6zxpq5m4t2hxbcqxr33mr"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x60979af7298aa2991699f8247351da163029258caa73f14419d5a7bdcea14680'),
	(90, 'operation', 'op_1dv3bnrdgyac9zr90xfkbay2wy', 1, '2026-11-29 22:15:55.907977+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp2383fjdv5278eybs5zst","run":"run_0z7fybb8hvqsjzvn6w9bmyfnyr"}', 'ver_01m8mp2384ek3td65gk0tz99km', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x1c213b2a0f30a3988d0c3d48bd25aeb03333035b4ed634594785777cbb3bcdaf'),
	(91, 'operation', 'op_1dv3bnrdgyac9zr90xfkbay2wy', 2, '2026-11-29 22:15:55.910113+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'reject', 'pending_approval', 'rejected', 'as the test wants it', '{"approval":"apr_01m8mp2386ejqrd2d4c0dsqefh"}', 'ver_01m8mp2384ek3td65gk0tz99km', '', '\x1c213b2a0f30a3988d0c3d48bd25aeb03333035b4ed634594785777cbb3bcdaf', '\xed53eea3e282dda876b1e8df66f82a4afd007082b5ea86d7ebe09c5605c302f6'),
	(92, 'run', 'run_0z7fybb8hvqsjzvn6w9bmyfnyr', 1, '2026-11-29 22:15:55.910113+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', '', 'web', 'run_blocked', 'open', 'blocked', '', '{"operation":"op_1dv3bnrdgyac9zr90xfkbay2wy"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x8d4645e148975cfe1252cedbdcc1d919bc162d48a6ae38b4227fa3a84fc380fc'),
	(93, 'operation', 'op_7x50at0m1gpv9md7e3h7zqvt71', 1, '2026-11-29 22:15:55.912714+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp2388f15sxf54j0q4r2by","run":"run_04b6c8hpjxaec5xpn3st5yhp0s"}', 'ver_01m8mp2389e2mbg8ev1r5ce8pn', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xb745b473006d760a05b07b8a3c15923f3e879dda67f0578e3a6665ea50cb820e'),
	(94, 'operation', 'op_7x50at0m1gpv9md7e3h7zqvt71', 2, '2026-11-29 22:15:55.914887+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'clear', 'pending_approval', 'ready', '', '{"approval":"apr_01m8mp238be548kt6qp8w8bhwx","clearance":"clr_01m8mp238be5cb0hmqg6gcmr41"}', 'ver_01m8mp2389e2mbg8ev1r5ce8pn', '', '\xb745b473006d760a05b07b8a3c15923f3e879dda67f0578e3a6665ea50cb820e', '\x3a40c175231d3cd51e13b18e5cff0227242b3eade4394ba2174341ab62fb2675'),
	(95, 'operation', 'op_7x50at0m1gpv9md7e3h7zqvt71', 3, '2026-11-29 22:15:55.916488+00', 'job', 'hand', 'hand', '', 'job', 'claim', 'ready', 'in_progress', '', '{"attempt":"att_01m8mp238cfgnsh4zma90ka788","kind":"first","worker":"hand"}', 'ver_01m8mp2389e2mbg8ev1r5ce8pn', '', '\x3a40c175231d3cd51e13b18e5cff0227242b3eade4394ba2174341ab62fb2675', '\x88981973f16e25497ea966451a730bb27f8dec53b2445bebfafa4ffc19f18331'),
	(96, 'operation', 'op_7x50at0m1gpv9md7e3h7zqvt71', 4, '2026-11-29 22:15:55.916488+00', 'job', 'hand', 'hand', '', 'job', 'dispatch', 'in_progress', 'in_progress', '', '{"attempt":"att_01m8mp238cfgnsh4zma90ka788","request":"5f9fa1f8b6d0842d66174c228e69334f460c7604e65eb9b0e4a1f7ad3adbe7f9"}', 'ver_01m8mp2389e2mbg8ev1r5ce8pn', '', '\x88981973f16e25497ea966451a730bb27f8dec53b2445bebfafa4ffc19f18331', '\xce96eb45794299ce74623d29ddb1b15af26475e9d2b5267b0664e863ecc1edb3'),
	(97, 'operation', 'op_7x50at0m1gpv9md7e3h7zqvt71', 5, '2026-11-29 22:15:55.918527+00', 'job', 'hand', 'hand', '', 'job', 'not_started', 'in_progress', 'retry_scheduled', 'rate_limited', '{"attempt":"att_01m8mp238cfgnsh4zma90ka788","code":"rate_limited"}', 'ver_01m8mp2389e2mbg8ev1r5ce8pn', '', '\xce96eb45794299ce74623d29ddb1b15af26475e9d2b5267b0664e863ecc1edb3', '\xac757f799869dc351efbf338ef7d73bcf3fcfe79fc543b3855b68710cd039379'),
	(98, 'operation', 'op_7x50at0m1gpv9md7e3h7zqvt71', 6, '2026-11-29 22:15:55.921792+00', 'person', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ops', '', 'web', 'cancel', 'retry_scheduled', 'cancelled', 'no longer wanted', '{}', 'ver_01m8mp2389e2mbg8ev1r5ce8pn', '', '\xac757f799869dc351efbf338ef7d73bcf3fcfe79fc543b3855b68710cd039379', '\x388a137519b62d051b374f1dac9284f5ccc6b35b2858db8d2a9e3961d93761e3'),
	(99, 'run', 'run_04b6c8hpjxaec5xpn3st5yhp0s', 1, '2026-11-29 22:15:55.921792+00', 'person', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ops', '', 'web', 'run_blocked', 'open', 'blocked', '', '{"operation":"op_7x50at0m1gpv9md7e3h7zqvt71"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x6c6e03a3012c5505ebc28bca616d3a0c3381b118bf7f7edca1897f3d89d7497c'),
	(100, 'operation', 'op_16xkhm7ng5z68ebngjhpkqqktj', 1, '2026-11-29 22:15:55.924685+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp238mf0s9a9yt31hqr49q","run":"run_0cw4s9d027r5ye30fch34gq4pb"}', 'ver_01m8mp238mfwd8s89ys6k0mv3p', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x37a7ccb79b54ee41a403d2c67194e0db1f17e2eba5973595e0bb2a467b7e68ac'),
	(101, 'operation', 'op_16xkhm7ng5z68ebngjhpkqqktj', 2, '2026-11-29 22:15:55.926743+00', 'person', 'usr_01m8mp22tgf9798thbn3zkt3ht', 'lead', 'approver', 'web', 'clear', 'pending_approval', 'ready', '', '{"approval":"apr_01m8mp238pfvat9m2f9649gsse","clearance":"clr_01m8mp238pfvkv1hzedjksr403"}', 'ver_01m8mp238mfwd8s89ys6k0mv3p', '', '\x37a7ccb79b54ee41a403d2c67194e0db1f17e2eba5973595e0bb2a467b7e68ac', '\x6290cd505ced8d4b310326937d7c91a907c227c5dd40a49186201c0b7464d4c3'),
	(102, 'operation', 'op_16xkhm7ng5z68ebngjhpkqqktj', 3, '2026-11-29 22:15:55.928535+00', 'job', 'hand', 'hand', '', 'job', 'claim', 'ready', 'in_progress', '', '{"attempt":"att_01m8mp238rfewrhdw9g3nn9tpc","kind":"first","worker":"hand"}', 'ver_01m8mp238mfwd8s89ys6k0mv3p', '', '\x6290cd505ced8d4b310326937d7c91a907c227c5dd40a49186201c0b7464d4c3', '\x45a93a663fb9fd7cf6a24485d996be9ef686995f989d53e85f5b4ec9a77b1205'),
	(103, 'operation', 'op_16xkhm7ng5z68ebngjhpkqqktj', 4, '2026-11-29 22:15:55.928535+00', 'job', 'hand', 'hand', '', 'job', 'dispatch', 'in_progress', 'in_progress', '', '{"attempt":"att_01m8mp238rfewrhdw9g3nn9tpc","request":"661273afac350c6ec0cb2dd4463fcacfc8a5e35ca1524757f98b86c62ea9ce32"}', 'ver_01m8mp238mfwd8s89ys6k0mv3p', '', '\x45a93a663fb9fd7cf6a24485d996be9ef686995f989d53e85f5b4ec9a77b1205', '\x1aca4ebd44d617dae3c2bfc7f7a95f4f28eb4bcf89e68fd4e6c2a5ad7980d303'),
	(104, 'operation', 'op_16xkhm7ng5z68ebngjhpkqqktj', 5, '2026-11-29 22:15:55.930029+00', 'job', 'hand', 'hand', '', 'job', 'unknown', 'in_progress', 'unknown', 'timeout', '{"attempt":"att_01m8mp238rfewrhdw9g3nn9tpc","code":"timeout"}', 'ver_01m8mp238mfwd8s89ys6k0mv3p', '', '\x1aca4ebd44d617dae3c2bfc7f7a95f4f28eb4bcf89e68fd4e6c2a5ad7980d303', '\xd7c3d8644f05d6132df8a80769ada9a13197d4adc97896a1efe0cc0c97c0218e'),
	(105, 'operation', 'op_16xkhm7ng5z68ebngjhpkqqktj', 6, '2026-11-29 22:15:55.934562+00', 'person', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ops', 'ops_owner', 'web', 'checklist', 'unknown', 'unknown', '', '{}', 'ver_01m8mp238mfwd8s89ys6k0mv3p', '', '\xd7c3d8644f05d6132df8a80769ada9a13197d4adc97896a1efe0cc0c97c0218e', '\x100d3b66a05c5562caaf387fe8d3cbdf9a4ab7398f8f4ed072d354139c0c2d55'),
	(106, 'operation', 'op_16xkhm7ng5z68ebngjhpkqqktj', 7, '2026-11-29 22:15:55.934562+00', 'person', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ops', '', 'web', 'escalate', 'unknown', 'review', 'settled by a person', '{}', 'ver_01m8mp238mfwd8s89ys6k0mv3p', '', '\x100d3b66a05c5562caaf387fe8d3cbdf9a4ab7398f8f4ed072d354139c0c2d55', '\x3d8aafaa83bb04e512092eb56406c529603db8d3829d48696b98b12a6d39250f'),
	(107, 'operation', 'op_16xkhm7ng5z68ebngjhpkqqktj', 8, '2026-11-29 22:15:55.934562+00', 'person', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ops', 'ops_owner', 'web', 'confirmed_not_done', 'review', 'review', 'their log shows nothing', '{}', 'ver_01m8mp238mfwd8s89ys6k0mv3p', '6029fe6cfb24d65bb35029789525b32e39a1afd8eca2c187924a3c457d11d646', '\x3d8aafaa83bb04e512092eb56406c529603db8d3829d48696b98b12a6d39250f', '\x6b8d0f9877f14866d3aac667bb6b3ee471c90a089d21141ea1b4958aa74d618c'),
	(108, 'operation', 'op_16xkhm7ng5z68ebngjhpkqqktj', 9, '2026-11-29 22:15:55.934562+00', 'person', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ops', 'ops_owner', 'web', 'close_not_executed', 'review', 'not_executed', 'their log shows nothing', '{}', 'ver_01m8mp238mfwd8s89ys6k0mv3p', '', '\x6b8d0f9877f14866d3aac667bb6b3ee471c90a089d21141ea1b4958aa74d618c', '\x56814651bd227cf63f5ba5584421715782c9ed70cdef67c99f70c0f46c703162'),
	(109, 'run', 'run_0cw4s9d027r5ye30fch34gq4pb', 1, '2026-11-29 22:15:55.934562+00', 'person', 'usr_01m8mp22tme7mvn8ga072x5yxx', 'ops', '', 'web', 'run_blocked', 'open', 'blocked', '', '{"operation":"op_16xkhm7ng5z68ebngjhpkqqktj"}', '', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xa4f473de585bce745225d343f66a30fe7b86ac640454c0f87ffbf4d071dba779'),
	(110, 'operation', 'op_4f6znxm7crqajz036d2hkkvpq2', 1, '2026-11-29 22:15:55.939633+00', 'system', 'system', 'system', '', 'api', 'create', '', 'draft', '', '{"event":"evt_01m8mp2393exy910xbx74zzbk6","run":"run_468we83r0ygq7fvqc0jwkq5t6t"}', 'ver_01m8mp2395f2vswpva43k4ns6w', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\x81d589a2dbc8ad81f8afadaafebe0292b30eb6ab9fb2e047a19b16b10406e355'),
	(111, 'operation', 'op_62sf5rwqmee8x1t3qs4ffcwhxm', 1, '2026-11-29 22:15:55.943184+00', 'system', 'system', 'system', '', 'api', 'create', '', 'pending_approval', '', '{"event":"evt_01m8mp2397e18rqj67y13rb6qn","run":"run_3fa78zcncfnx71gs1rn66zmcvp"}', 'ver_01m8mp2397eyt8g68q6560r2zv', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xbde7e102a4f28deb0e162abd40da6f65a8d0b26afeb9869b60c3d4baef19ce1c');

INSERT INTO public.installation (one, id, key_check, epoch, paused_why, paused_by, paused_at, chain_seq, chain_hash, created_at) VALUES
	(true, 'ins_01m8mp22swej5s7zxdy5ymjbmc', '\xc5070a509efacfb57e22a9597ac79aab0a4547141dcb1db2465a8655494bdc6f', 11, '', NULL, NULL, 4, '\x8ffd237fc9db850130d5664fe7bf5bbdfe470215e3d9f50a0d0356f6a26e04b7', '2026-11-29 22:15:55.453453+00');

INSERT INTO public.password_links (token_hash, user_id, expires_at, used_at) VALUES
	('\x588471ef847006758124d8f41976a0cba78289abb3634d5b8aa0b987725e871e', 'usr_01m8mp22t2etvr2s15jjtzw1mc', '2026-11-30 22:15:55.457148+00', NULL),
	('\x85a99a1407e7cba72cf3df0c5920b73d44697829b649f3515592d7bfbea4f0e4', 'usr_01m8mp22tceyjarczsgr6vyhht', '2026-11-30 22:15:55.468421+00', NULL),
	('\x8fe300373ca3da28f7e223fc3821cdaf20973f44a54a4ac56ab7194df5a7eb6e', 'usr_01m8mp22tefsq82cym67txak52', '2026-11-30 22:15:55.470833+00', NULL),
	('\x13cbf6edbb60357452ec2ecacbe45b1c6afa0d90bf253e23406009b7b4f6155d', 'usr_01m8mp22tgf9798thbn3zkt3ht', '2026-11-30 22:15:55.472623+00', NULL),
	('\xa6759e18027404aa125b958254500cf136e7af8c94c1255177cfb53a410e2978', 'usr_01m8mp22tjeknv19zkvapt1ehk', '2026-11-30 22:15:55.474266+00', NULL),
	('\xe4d9bf5975858860cdc1cadbd1e78d88022a6443dcb766e70ebfc8e91cdd26c8', 'usr_01m8mp22tme7mvn8ga072x5yxx', '2026-11-30 22:15:55.476055+00', NULL),
	('\xda9dd76825a888d23917a75eebadf599b8630ff030271aafe55bec956adb9f21', 'usr_01m8mp22tnfskvbjdmr8y47bb0', '2026-11-30 22:15:55.477859+00', NULL),
	('\x32e644ff3eddb9358925b2f3102771be270767ceee1702ffa887daeb57777d44', 'usr_01m8mp22tqfa0avfdqrqf8880a', '2026-11-30 22:15:55.479605+00', NULL);

INSERT INTO public.reexecution_requests (id, operation_id, round, requested_by, reason, key_generation, state, checked_at, requested_at, decided_at, final_check_at) VALUES
	('req_01m8mp237qej6rbec4dj5d7601', 'op_2jpzdxyeqf3037sn3sxd1asq99', 0, 'usr_01m8mp22tme7mvn8ga072x5yxx', 'their log shows nothing', 1, 'requested', NULL, '2026-11-29 22:15:55.891498+00', NULL, NULL);

INSERT INTO public.sources (name, version, hash, source, created_by, created_at) VALUES
	('api', 1, '\xcf85b60bc8bdbdf30594042915dc1ebb2109c4185dc58b4e44cec27630cc0806', '# Other programs post CloudEvents 1.0 with an API token. source and id together are the
# event''s key, type is the topic.
source: api
title: {en: API (CloudEvents), ja: API（CloudEvents）, pl: API (CloudEvents)}
kind: cloudevents
account: demo
environment: test
answer: 202
', 'system', '2026-11-29 22:15:55.516112+00'),
	('form', 1, '\x169fa27cbea090304b42baf1930e958cd3d0b51b3adf011c7f3cfc5da0f84bb6', '# Any system that posts JSON and can sign: this file says where its keys are.
source: form
title: {en: Contact form, ja: 問い合わせフォーム, pl: Formularz kontaktowy}
kind: json
account: demo
environment: test
secrets: [{env: FORM_SECRET}]
signature: {scheme: hmac_sha256, header: X-Form-Signature, encoding: hex, prefix: "sha256="}
event_key: ${body.submission.id}
delivery_key: ${header["x-form-delivery"]}
business_key: ${body.submission.?ticket.orValue("")}
topic: form.submitted
time: ${body.submission.at}
data: ${body.submission.fields}
gzip: accept
byte_order_mark: strip
answer: 200
', 'system', '2026-11-29 22:15:55.516112+00'),
	('shopify-flow', 1, '\x1f1cc703103b0c0af37be56e406952a249b26970e842351b650e35c187dcd45a', '# A Shopify Flow action calls Holdpoint. The run''s ID stays the same on every resend,
# so it is the event''s key. 200 hands the work over: an approval may take longer than
# the 36 hours that Flow would wait on 202.
source: shopify-flow
title: {en: Shopify Flow, ja: Shopify Flow, pl: Shopify Flow}
kind: shopify_flow
account: demo-shop.myshopify.com
environment: test
secrets: [{env: SHOPIFY_FLOW_SECRET}, {env: SHOPIFY_FLOW_SECRET_OLD}]
answer: 200
silence: 7d
', 'system', '2026-11-29 22:15:55.516112+00'),
	('shopify', 1, '\x211bbb23babf4a38b8aa70ea63423b772261e3d8acbdf15e31dd4c0dd97db13e', '# Shopify webhooks: signed over the raw body; the topic belongs to the identity, since
# several topics share one event ID.
source: shopify
title: {en: Shopify webhooks, ja: Shopify Webhook, pl: Webhooki Shopify}
kind: shopify_webhook
account: demo-shop.myshopify.com
environment: test
secrets: [{env: SHOPIFY_WEBHOOK_SECRET}, {env: SHOPIFY_WEBHOOK_SECRET_OLD}]
business_key: ${body.?name.orValue("")}
answer: 200
silence: 2d
', 'system', '2026-11-29 22:15:55.516112+00');

INSERT INTO public.submissions (version_id, operation_id, submitted_by, policy, submitted_at) VALUES
	('ver_01m8mp232zfd0rjeesndadrb5q', 'op_4qmgdg1tjb6yvhxsqp6d0a864v', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.733539+00'),
	('ver_01m8mp2349fdyr5afj5kgpwf07', 'op_5a580wbg81khexmfv54faqy2k0', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.785386+00'),
	('ver_01m8mp234cetxrf45bvwcwbn94', 'op_4e1rrh9qp43fxrf0b4fq7g1jvb', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.788081+00'),
	('ver_01m8mp234gej78epn3ah7ak3tx', 'op_7fkd1jqwqwnpwaxtzb1r90z4ha', 'campaign-follow-up', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":259200000000000,"due":14400000000000,"remind":7200000000000,"escalate_role":"admin","escalate_after":86400000000000}', '2026-11-29 22:15:55.789724+00'),
	('ver_01m8mp234rfhrtd034f29tzh70', 'op_5xaex9y8tsq9vge61aseae1j2a', 'usr_01m8mp22tceyjarczsgr6vyhht', '{"approvers":{"role":"approver"},"required":2,"separate_author":true,"expires":259200000000000,"due":28800000000000,"remind":14400000000000}', '2026-11-29 22:15:55.799408+00'),
	('ver_01m8mp2355ff0968v024cddfh1', 'op_4q1nqye6jmcjye89ndtgebh468', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.81346+00'),
	('ver_01m8mp235af55rqcwydb25qp2c', 'op_0n1cf6f3zazrc10esjxbdyed06', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.818304+00'),
	('ver_01m8mp235mfm8bbpnb0dknf1vb', 'op_5ghh29qqrmfsncqscenb4wf5r7', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.828528+00'),
	('ver_01m8mp2360f66bga31kmeph8y1', 'op_22x4mc535avmxpcqm0sbge5s4p', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.840304+00'),
	('ver_01m8mp2369f2jaab1qkm6vdjys', 'op_7nevs6k18ecx4r65eqtwqj6sn0', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.849219+00'),
	('ver_01m8mp2377ftna0ywmeybmf7pg', 'op_2jpzdxyeqf3037sn3sxd1asq99', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.879622+00'),
	('ver_01m8mp237vfwqsghawrg6j6xp8', 'op_09chq6zxpq5m4t2hxbcqxr33mr', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.89969+00'),
	('ver_01m8mp2384ek3td65gk0tz99km', 'op_1dv3bnrdgyac9zr90xfkbay2wy', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.907977+00'),
	('ver_01m8mp2389e2mbg8ev1r5ce8pn', 'op_7x50at0m1gpv9md7e3h7zqvt71', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.912714+00'),
	('ver_01m8mp238mfwd8s89ys6k0mv3p', 'op_16xkhm7ng5z68ebngjhpkqqktj', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.924685+00'),
	('ver_01m8mp2397eyt8g68q6560r2zv', 'op_62sf5rwqmee8x1t3qs4ffcwhxm', 'newsletter-coupon', '{"approvers":{"role":"approver"},"required":1,"separate_author":true,"expires":604800000000000,"due":86400000000000,"remind":0}', '2026-11-29 22:15:55.943184+00');

INSERT INTO public.target_references (account, effect_type, reference, operation_id, url, at) VALUES
	('acct_demo', 'coupon', 'there-op_09chq6zxpq5m4t2hxbcqxr33mr', 'op_09chq6zxpq5m4t2hxbcqxr33mr', '', '2026-11-29 22:15:55.905231+00');

INSERT INTO public.user_roles (user_id, role, flow) VALUES
	('usr_01m8mp22t2etvr2s15jjtzw1mc', 'admin', ''),
	('usr_01m8mp22tceyjarczsgr6vyhht', 'author', ''),
	('usr_01m8mp22tefsq82cym67txak52', 'author', ''),
	('usr_01m8mp22tgf9798thbn3zkt3ht', 'approver', ''),
	('usr_01m8mp22tjeknv19zkvapt1ehk', 'approver', ''),
	('usr_01m8mp22tme7mvn8ga072x5yxx', 'ops_owner', ''),
	('usr_01m8mp22tnfskvbjdmr8y47bb0', 'ops_owner', ''),
	('usr_01m8mp22tqfa0avfdqrqf8880a', 'auditor', '');

INSERT INTO public.version_bodies (version_id, content, request, salt) VALUES
	('ver_01m8mp232zfd0rjeesndadrb5q', '{"code":"CODE-1","name":"Coupon 1","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-1\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+1\u0026percent_off=10"}', '\x1f2ddee0e022871c543b8cd85cede750'),
	('ver_01m8mp2346eyn9xbx3cpqt4sz9', '{"percent_off":5}', '{}', '\x3c354bd8d74b6616650c2015d6d17f67'),
	('ver_01m8mp2349fdyr5afj5kgpwf07', '{"code":"CODE-2","name":"Coupon 2","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-2\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+2\u0026percent_off=10"}', '\x54c0a82fb81fe34f989b3c60ca34f47f'),
	('ver_01m8mp234cetxrf45bvwcwbn94', '{"code":"CODE-3","name":"Coupon 3","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-3\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+3\u0026percent_off=10"}', '\xcf1d70301ec46711549d89f67c33c7c7'),
	('ver_01m8mp234kf0trkrd5j0dawps5', '{"to":"c4@example.test"}', '{}', '\xbbcdd5151aebc141d35aba218cc2fb0c'),
	('ver_01m8mp234gej78epn3ah7ak3tx', '{"contact":"c4@example.test","due":"2026-12-01T22:15:55Z","subject":"Call C-4 about Spring"}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/crm/tasks","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/json"}],"body":"{\"contact\":\"c4@example.test\",\"due\":\"2026-12-01T22:15:55Z\",\"reference\":\"operation_id\",\"subject\":\"Call C-4 about Spring\"}"}', '\xc8107ad5444986a191c8a0a0fc0b7589'),
	('ver_01m8mp234rfhrtd034f29tzh70', '{"subject":"Spring 1","text":"Thank you.","to":"c@example.test"}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/mail/emails","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/json"},{"name":"Idempotency-Key","value":"key"}],"body":"{\"from\":\"Demo shop \u003cshop@example.test\u003e\",\"subject\":\"Spring 1\",\"tags\":[{\"name\":\"operation_id\",\"value\":\"operation_id\"}],\"text\":\"Thank you.\",\"to\":[\"c@example.test\"]}"}', '\x2e9dfd2a29e4d898f5f036343253d360'),
	('ver_01m8mp2355ff0968v024cddfh1', '{"code":"CODE-5","name":"Coupon 5","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-5\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+5\u0026percent_off=10"}', '\x9708e96f33a1b8c5781a5a6147d02031'),
	('ver_01m8mp235af55rqcwydb25qp2c', '{"code":"CODE-6","name":"Coupon 6","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-6\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+6\u0026percent_off=10"}', '\xf1856127386e3b4b8ac8ffad962468ea'),
	('ver_01m8mp235mfm8bbpnb0dknf1vb', '{"code":"CODE-7","name":"Coupon 7","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-7\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+7\u0026percent_off=10"}', '\xd015fae0dce01b8564a9cdebaf027fea'),
	('ver_01m8mp2360f66bga31kmeph8y1', '{"code":"CODE-8","name":"Coupon 8","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-8\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+8\u0026percent_off=10"}', '\x6eef5c6ef8defe5c08bcffba5de53dfd'),
	('ver_01m8mp2369f2jaab1qkm6vdjys', '{"code":"CODE-9","name":"Coupon 9","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-9\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+9\u0026percent_off=10"}', '\xe25fb897556354fc3be45451774e25ff'),
	('ver_01m8mp2377ftna0ywmeybmf7pg', '{"code":"CODE-10","name":"Coupon 10","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-10\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+10\u0026percent_off=10"}', '\x09cd84fcf292d4e7b72e883a55489f2a'),
	('ver_01m8mp237vfwqsghawrg6j6xp8', '{"code":"CODE-11","name":"Coupon 11","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-11\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+11\u0026percent_off=10"}', '\x0908d0ac7c9caf21dc444e2c96aaa60e'),
	('ver_01m8mp2384ek3td65gk0tz99km', '{"code":"CODE-12","name":"Coupon 12","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-12\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+12\u0026percent_off=10"}', '\x4e6eb0f43547ae27dbd327332ddf37ff'),
	('ver_01m8mp2389e2mbg8ev1r5ce8pn', '{"code":"CODE-13","name":"Coupon 13","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-13\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+13\u0026percent_off=10"}', '\x3cc7eac6569fa498fc1619cb0f21de31'),
	('ver_01m8mp238mfwd8s89ys6k0mv3p', '{"code":"CODE-14","name":"Coupon 14","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-14\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+14\u0026percent_off=10"}', '\x9c6c07b42f64d3e9addd8444fa20df11'),
	('ver_01m8mp2395f2vswpva43k4ns6w', '{"topic":"Topic 15"}', '{}', '\x727cf43eede6c59131917ea5d9821c79'),
	('ver_01m8mp2397eyt8g68q6560r2zv', '{"code":"CODE-16","name":"Coupon 16","percent_off":10}', '{"kind":"http","method":"POST","url":"http://127.0.0.1:9/billing/v1/coupons","header":[{"name":"Accept","value":"application/json"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"},{"name":"Idempotency-Key","value":"key"}],"body":"duration=once\u0026id=CODE-16\u0026metadata[operation_id]=%EE%80%80operation_id%EE%80%81\u0026name=Coupon+16\u0026percent_off=10"}', '\xf33bebeef7d415e2fe7d63650b29f471');

SELECT pg_catalog.setval('public.checklist_answers_id_seq', 10, true);

SELECT pg_catalog.setval('public.history_id_seq', 111, true);

SELECT pg_catalog.setval('public.pauses_id_seq', 1, false);

