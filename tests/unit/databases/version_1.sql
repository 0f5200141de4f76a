-- What a program of version 1 wrote for a run over a file and a web page.
CREATE TABLE schema (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
CREATE TABLE runs (
	id VARCHAR(80) NOT NULL, 
	thread VARCHAR(64) NOT NULL, 
	turn INTEGER NOT NULL, 
	owner VARCHAR(200) NOT NULL, 
	question TEXT NOT NULL, 
	status VARCHAR(32) NOT NULL, 
	code VARCHAR(64) NOT NULL, 
	context TEXT NOT NULL, 
	folder TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	updated FLOAT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_runs_owner ON runs (owner);
CREATE INDEX ix_runs_thread ON runs (thread);
CREATE TABLE calls (
	"key" VARCHAR(64) NOT NULL, 
	run VARCHAR(80) NOT NULL, 
	session VARCHAR(64) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	role VARCHAR(32) NOT NULL, 
	step VARCHAR(32) NOT NULL, 
	model VARCHAR(120) NOT NULL, 
	result TEXT NOT NULL, 
	tokens_in INTEGER NOT NULL, 
	tokens_out INTEGER NOT NULL, 
	cost FLOAT NOT NULL, 
	started FLOAT NOT NULL, 
	ended FLOAT NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE INDEX ix_calls_run ON calls (run);
CREATE TABLE documents (
	owner VARCHAR(200) NOT NULL, 
	root VARCHAR(700) NOT NULL, 
	path VARCHAR(700) NOT NULL, 
	size INTEGER NOT NULL, 
	modified INTEGER NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	reader INTEGER NOT NULL, 
	code VARCHAR(64) NOT NULL, 
	reason TEXT NOT NULL, 
	PRIMARY KEY (owner, root, path)
);
CREATE INDEX ix_documents_sha256 ON documents (sha256);
CREATE TABLE pages (
	number INTEGER NOT NULL, 
	id VARCHAR(32) NOT NULL, 
	owner VARCHAR(200) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	origin VARCHAR(700) NOT NULL, 
	place VARCHAR(300) NOT NULL, 
	position INTEGER NOT NULL, 
	title TEXT NOT NULL, 
	abstract TEXT NOT NULL, 
	text TEXT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	created FLOAT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (id)
);
CREATE INDEX pages_origin ON pages (owner, kind, origin);
CREATE TABLE sources (
	thread VARCHAR(64) NOT NULL, 
	page VARCHAR(32) NOT NULL, 
	number INTEGER NOT NULL, 
	PRIMARY KEY (thread, page), 
	UNIQUE (thread, number)
);
CREATE TABLE events (
	id INTEGER NOT NULL, 
	owner VARCHAR(200) NOT NULL, 
	run VARCHAR(80) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	data TEXT NOT NULL, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_events_owner ON events (owner);
CREATE TABLE outbox (
	id INTEGER NOT NULL, 
	owner VARCHAR(200) NOT NULL, 
	job VARCHAR(32) NOT NULL, 
	data TEXT NOT NULL, 
	due FLOAT NOT NULL, 
	tries INTEGER NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_outbox_due ON outbox (due);
CREATE VIRTUAL TABLE page_words USING fts5(title, body);
INSERT INTO schema (version) VALUES (1);
INSERT INTO runs (id, thread, turn, owner, question, status, code, context, folder, created, updated) VALUES ('t1-1', 't1', 1, 'ada/', 'Why do bees dance?', 'succeeded', '', '{"user": "ada"}', '', 1795231446.4991336, 1795231446.5495706);
INSERT INTO calls (key, run, session, kind, role, step, model, result, tokens_in, tokens_out, cost, started, ended) VALUES ('9a87e4c35993a627f57eb52229381d27ce5e3074ed9c74726cab9835dee90bea', 't1-1', '', 'model', 'planner', 's1', '', '{"answer": "to tell the way"}', 0, 0, 0.0, 1.0, 1795231446.5537055);
INSERT INTO documents (owner, root, path, size, modified, sha256, reader, code, reason) VALUES ('ada/', '/docs', '/docs/bees.pdf', 1, 1, 'ab12', 1, '', '');
INSERT INTO pages (number, id, owner, kind, origin, place, position, title, abstract, text, sha256, created) VALUES (1, '470d2dcf8a3c6ab4e2fe4124', 'ada/', 'file', 'ab12', 'page=1', 0, 'The dance — Runs', 'The waggle dance tells the direction.', 'The waggle dance tells the direction.', '9d97e2de7669aadddf40cc7849234d1ff26529a5a679de81dac6aa4db0cec21e', 1795231446.5576181);
INSERT INTO pages (number, id, owner, kind, origin, place, position, title, abstract, text, sha256, created) VALUES (2, 'db9c04046b27cf0d635364e1', 'ada/', 'file', 'ab12', 'page=2', 1, 'The dance — Ends', '蜜蜂用摇摆舞告诉同伴方向。', '蜜蜂用摇摆舞告诉同伴方向。', 'ba50569658fddc7a02b5371c7eb948762635d2c6b315de25acbf79f099e6bbc8', 1795231446.557636);
INSERT INTO pages (number, id, owner, kind, origin, place, position, title, abstract, text, sha256, created) VALUES (3, '2c4d6feb804a26db4fed5b0c', 'bob/', 'web', 'https://a.org/x', '', 0, 'Queen (bee)', 'The queen lays 2,000 eggs a day.', 'The queen lays 2,000 eggs a day.', 'f7e3d0ec31cc05c3faec910d77049df2a54451ade03f9a91caa5ff2291231347', 1795231446.565614);
INSERT INTO sources (thread, page, number) VALUES ('t1', 'db9c04046b27cf0d635364e1', 1);
INSERT INTO page_words (rowid, title, body) VALUES (1, 'danc run', 'waggl danc tell direct');
INSERT INTO page_words (rowid, title, body) VALUES (2, 'danc end', '蜜蜂 蜂用 用摇 摇摆 摆舞 舞告 告诉 诉同 同伴 伴方 方向');
INSERT INTO page_words (rowid, title, body) VALUES (3, 'queen bee', 'queen lay 2000 egg day');
