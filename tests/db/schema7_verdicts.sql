-- A run history as schema 7 wrote it: two trials of two steps of a study of two seeds. Never edited, but for the folders' names.
PRAGMA application_id = 1633840244;
PRAGMA user_version = 7;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE experiment (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  file TEXT NOT NULL,
  text TEXT NOT NULL,
  overrides TEXT NOT NULL
) STRICT;
INSERT INTO experiment VALUES(1,'old verdicts','','/home/me/s.toml',replace('[experiment]\nname = "old verdicts"\n[task]\nplugin = "bytes"\nlength = 16\n[model]\nlayers = 1\nd_model = 8\nhidden = 8\n[attention]\nplugin = "softmax"\n[train]\nsteps = 2\nbatch = 2\nevaluate_batches = 1\ntest_batches = 1\n[grid]\nseeds = 2\n','\n',char(10)),'[]');
CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  configuration INTEGER NOT NULL
) STRICT;
INSERT INTO trial VALUES(1,'8ca9c2d6a0d713148f132e0ee11ff6cd2200fe5419fc21a952bc538df9d86206',-1996840384379852580);
INSERT INTO trial VALUES(2,'134c9edd913b250971c8375f62caa273263acb3af47d499090da7f341aa7da6b',-5645044222845826515);
CREATE TABLE resolved (
  trial INTEGER PRIMARY KEY REFERENCES trial,
  json TEXT NOT NULL
) STRICT;
INSERT INTO resolved VALUES(1,'{"attention":{"heads":2,"plugin":"softmax"},"model":{"activation":"gelu","attention_dropout":0.0,"attention_width":0,"causal":false,"classifier":"linear","classifier_hidden":0,"cut":"between","d_model":8,"dropout":0.1,"hidden":8,"inner_dropout":0.0,"layers":1,"norm":"pre","pooling":"mean","positions":"learned","segment":0,"tied_output":false},"seed":1,"task":{"data_seed":0,"examples":256,"length":16,"plugin":"bytes"},"train":{"accumulate":1,"batch":2,"beta1":0.9,"beta1_low":0.0,"beta2":0.999,"clip":0.0,"device":"cpu","dtype":"float32","epsilon":1e-06,"evaluate_batches":1,"evaluate_every":0,"learning_rate":0.0001,"loss_piece":0,"schedule":"one-cycle","shuffle_labels":false,"steps":2,"stride":0,"test_batches":1,"threads":1,"warmup":0,"weight_decay":0.0}}');
INSERT INTO resolved VALUES(2,'{"attention":{"heads":2,"plugin":"softmax"},"model":{"activation":"gelu","attention_dropout":0.0,"attention_width":0,"causal":false,"classifier":"linear","classifier_hidden":0,"cut":"between","d_model":8,"dropout":0.1,"hidden":8,"inner_dropout":0.0,"layers":1,"norm":"pre","pooling":"mean","positions":"learned","segment":0,"tied_output":false},"seed":2,"task":{"data_seed":0,"examples":256,"length":16,"plugin":"bytes"},"train":{"accumulate":1,"batch":2,"beta1":0.9,"beta1_low":0.0,"beta2":0.999,"clip":0.0,"device":"cpu","dtype":"float32","epsilon":1e-06,"evaluate_batches":1,"evaluate_every":0,"learning_rate":0.0001,"loss_piece":0,"schedule":"one-cycle","shuffle_labels":false,"steps":2,"stride":0,"test_batches":1,"threads":1,"warmup":0,"weight_decay":0.0}}');
CREATE TABLE experiment_trial (
  experiment INTEGER NOT NULL REFERENCES experiment,
  trial INTEGER NOT NULL REFERENCES trial,
  position INTEGER NOT NULL,
  listed INTEGER NOT NULL, cell INTEGER,
  PRIMARY KEY (experiment, trial)
) STRICT, WITHOUT ROWID;
INSERT INTO experiment_trial VALUES(1,1,0,1,NULL);
INSERT INTO experiment_trial VALUES(1,2,1,1,NULL);
CREATE TABLE path (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO path VALUES(1,'attention');
INSERT INTO path VALUES(2,'attention.heads');
INSERT INTO path VALUES(3,'model.activation');
INSERT INTO path VALUES(4,'model.attention_dropout');
INSERT INTO path VALUES(5,'model.attention_width');
INSERT INTO path VALUES(6,'model.causal');
INSERT INTO path VALUES(7,'model.classifier');
INSERT INTO path VALUES(8,'model.classifier_hidden');
INSERT INTO path VALUES(9,'model.cut');
INSERT INTO path VALUES(10,'model.d_model');
INSERT INTO path VALUES(11,'model.dropout');
INSERT INTO path VALUES(12,'model.hidden');
INSERT INTO path VALUES(13,'model.inner_dropout');
INSERT INTO path VALUES(14,'model.layers');
INSERT INTO path VALUES(15,'model.norm');
INSERT INTO path VALUES(16,'model.pooling');
INSERT INTO path VALUES(17,'model.positions');
INSERT INTO path VALUES(18,'model.segment');
INSERT INTO path VALUES(19,'model.tied_output');
INSERT INTO path VALUES(20,'seed');
INSERT INTO path VALUES(21,'task');
INSERT INTO path VALUES(22,'task.data_seed');
INSERT INTO path VALUES(23,'task.examples');
INSERT INTO path VALUES(24,'task.length');
INSERT INTO path VALUES(25,'train.accumulate');
INSERT INTO path VALUES(26,'train.batch');
INSERT INTO path VALUES(27,'train.beta1');
INSERT INTO path VALUES(28,'train.beta1_low');
INSERT INTO path VALUES(29,'train.beta2');
INSERT INTO path VALUES(30,'train.clip');
INSERT INTO path VALUES(31,'train.device');
INSERT INTO path VALUES(32,'train.dtype');
INSERT INTO path VALUES(33,'train.epsilon');
INSERT INTO path VALUES(34,'train.evaluate_batches');
INSERT INTO path VALUES(35,'train.evaluate_every');
INSERT INTO path VALUES(36,'train.learning_rate');
INSERT INTO path VALUES(37,'train.loss_piece');
INSERT INTO path VALUES(38,'train.schedule');
INSERT INTO path VALUES(39,'train.shuffle_labels');
INSERT INTO path VALUES(40,'train.steps');
INSERT INTO path VALUES(41,'train.stride');
INSERT INTO path VALUES(42,'train.test_batches');
INSERT INTO path VALUES(43,'train.threads');
INSERT INTO path VALUES(44,'train.warmup');
INSERT INTO path VALUES(45,'train.weight_decay');
CREATE TABLE value (
  id INTEGER PRIMARY KEY,
  path INTEGER NOT NULL REFERENCES path,
  type TEXT NOT NULL CHECK (type IN ('integer', 'real', 'boolean', 'text')),
  text TEXT NOT NULL,
  number ANY,
  UNIQUE (path, text, type)
) STRICT;
INSERT INTO value VALUES(1,1,'text','softmax',NULL);
INSERT INTO value VALUES(2,2,'integer','2',2);
INSERT INTO value VALUES(3,3,'text','gelu',NULL);
INSERT INTO value VALUES(4,4,'real','0.0',0.0);
INSERT INTO value VALUES(5,5,'integer','0',0);
INSERT INTO value VALUES(6,6,'boolean','false',0);
INSERT INTO value VALUES(7,7,'text','linear',NULL);
INSERT INTO value VALUES(8,8,'integer','0',0);
INSERT INTO value VALUES(9,9,'text','between',NULL);
INSERT INTO value VALUES(10,10,'integer','8',8);
INSERT INTO value VALUES(11,11,'real','0.1',0.10000000000000000555);
INSERT INTO value VALUES(12,12,'integer','8',8);
INSERT INTO value VALUES(13,13,'real','0.0',0.0);
INSERT INTO value VALUES(14,14,'integer','1',1);
INSERT INTO value VALUES(15,15,'text','pre',NULL);
INSERT INTO value VALUES(16,16,'text','mean',NULL);
INSERT INTO value VALUES(17,17,'text','learned',NULL);
INSERT INTO value VALUES(18,18,'integer','0',0);
INSERT INTO value VALUES(19,19,'boolean','false',0);
INSERT INTO value VALUES(20,20,'integer','1',1);
INSERT INTO value VALUES(21,21,'text','bytes',NULL);
INSERT INTO value VALUES(22,22,'integer','0',0);
INSERT INTO value VALUES(23,23,'integer','256',256);
INSERT INTO value VALUES(24,24,'integer','16',16);
INSERT INTO value VALUES(25,25,'integer','1',1);
INSERT INTO value VALUES(26,26,'integer','2',2);
INSERT INTO value VALUES(27,27,'real','0.9',0.9000000000000000222);
INSERT INTO value VALUES(28,28,'real','0.0',0.0);
INSERT INTO value VALUES(29,29,'real','0.999',0.99899999999999999911);
INSERT INTO value VALUES(30,30,'real','0.0',0.0);
INSERT INTO value VALUES(31,31,'text','cpu',NULL);
INSERT INTO value VALUES(32,32,'text','float32',NULL);
INSERT INTO value VALUES(33,33,'real','1e-06',9.9999999999999995472e-07);
INSERT INTO value VALUES(34,34,'integer','1',1);
INSERT INTO value VALUES(35,35,'integer','0',0);
INSERT INTO value VALUES(36,36,'real','0.0001',0.00010000000000000000479);
INSERT INTO value VALUES(37,37,'integer','0',0);
INSERT INTO value VALUES(38,38,'text','one-cycle',NULL);
INSERT INTO value VALUES(39,39,'boolean','false',0);
INSERT INTO value VALUES(40,40,'integer','2',2);
INSERT INTO value VALUES(41,41,'integer','0',0);
INSERT INTO value VALUES(42,42,'integer','1',1);
INSERT INTO value VALUES(43,43,'integer','1',1);
INSERT INTO value VALUES(44,44,'integer','0',0);
INSERT INTO value VALUES(45,45,'real','0.0',0.0);
INSERT INTO value VALUES(46,20,'integer','2',2);
CREATE TABLE parameter (
  path INTEGER NOT NULL REFERENCES path,
  trial INTEGER NOT NULL REFERENCES trial,
  value INTEGER NOT NULL REFERENCES value,
  PRIMARY KEY (path, trial)
) STRICT, WITHOUT ROWID;
INSERT INTO parameter VALUES(1,1,1);
INSERT INTO parameter VALUES(1,2,1);
INSERT INTO parameter VALUES(2,1,2);
INSERT INTO parameter VALUES(2,2,2);
INSERT INTO parameter VALUES(3,1,3);
INSERT INTO parameter VALUES(3,2,3);
INSERT INTO parameter VALUES(4,1,4);
INSERT INTO parameter VALUES(4,2,4);
INSERT INTO parameter VALUES(5,1,5);
INSERT INTO parameter VALUES(5,2,5);
INSERT INTO parameter VALUES(6,1,6);
INSERT INTO parameter VALUES(6,2,6);
INSERT INTO parameter VALUES(7,1,7);
INSERT INTO parameter VALUES(7,2,7);
INSERT INTO parameter VALUES(8,1,8);
INSERT INTO parameter VALUES(8,2,8);
INSERT INTO parameter VALUES(9,1,9);
INSERT INTO parameter VALUES(9,2,9);
INSERT INTO parameter VALUES(10,1,10);
INSERT INTO parameter VALUES(10,2,10);
INSERT INTO parameter VALUES(11,1,11);
INSERT INTO parameter VALUES(11,2,11);
INSERT INTO parameter VALUES(12,1,12);
INSERT INTO parameter VALUES(12,2,12);
INSERT INTO parameter VALUES(13,1,13);
INSERT INTO parameter VALUES(13,2,13);
INSERT INTO parameter VALUES(14,1,14);
INSERT INTO parameter VALUES(14,2,14);
INSERT INTO parameter VALUES(15,1,15);
INSERT INTO parameter VALUES(15,2,15);
INSERT INTO parameter VALUES(16,1,16);
INSERT INTO parameter VALUES(16,2,16);
INSERT INTO parameter VALUES(17,1,17);
INSERT INTO parameter VALUES(17,2,17);
INSERT INTO parameter VALUES(18,1,18);
INSERT INTO parameter VALUES(18,2,18);
INSERT INTO parameter VALUES(19,1,19);
INSERT INTO parameter VALUES(19,2,19);
INSERT INTO parameter VALUES(20,1,20);
INSERT INTO parameter VALUES(20,2,46);
INSERT INTO parameter VALUES(21,1,21);
INSERT INTO parameter VALUES(21,2,21);
INSERT INTO parameter VALUES(22,1,22);
INSERT INTO parameter VALUES(22,2,22);
INSERT INTO parameter VALUES(23,1,23);
INSERT INTO parameter VALUES(23,2,23);
INSERT INTO parameter VALUES(24,1,24);
INSERT INTO parameter VALUES(24,2,24);
INSERT INTO parameter VALUES(25,1,25);
INSERT INTO parameter VALUES(25,2,25);
INSERT INTO parameter VALUES(26,1,26);
INSERT INTO parameter VALUES(26,2,26);
INSERT INTO parameter VALUES(27,1,27);
INSERT INTO parameter VALUES(27,2,27);
INSERT INTO parameter VALUES(28,1,28);
INSERT INTO parameter VALUES(28,2,28);
INSERT INTO parameter VALUES(29,1,29);
INSERT INTO parameter VALUES(29,2,29);
INSERT INTO parameter VALUES(30,1,30);
INSERT INTO parameter VALUES(30,2,30);
INSERT INTO parameter VALUES(31,1,31);
INSERT INTO parameter VALUES(31,2,31);
INSERT INTO parameter VALUES(32,1,32);
INSERT INTO parameter VALUES(32,2,32);
INSERT INTO parameter VALUES(33,1,33);
INSERT INTO parameter VALUES(33,2,33);
INSERT INTO parameter VALUES(34,1,34);
INSERT INTO parameter VALUES(34,2,34);
INSERT INTO parameter VALUES(35,1,35);
INSERT INTO parameter VALUES(35,2,35);
INSERT INTO parameter VALUES(36,1,36);
INSERT INTO parameter VALUES(36,2,36);
INSERT INTO parameter VALUES(37,1,37);
INSERT INTO parameter VALUES(37,2,37);
INSERT INTO parameter VALUES(38,1,38);
INSERT INTO parameter VALUES(38,2,38);
INSERT INTO parameter VALUES(39,1,39);
INSERT INTO parameter VALUES(39,2,39);
INSERT INTO parameter VALUES(40,1,40);
INSERT INTO parameter VALUES(40,2,40);
INSERT INTO parameter VALUES(41,1,41);
INSERT INTO parameter VALUES(41,2,41);
INSERT INTO parameter VALUES(42,1,42);
INSERT INTO parameter VALUES(42,2,42);
INSERT INTO parameter VALUES(43,1,43);
INSERT INTO parameter VALUES(43,2,43);
INSERT INTO parameter VALUES(44,1,44);
INSERT INTO parameter VALUES(44,2,44);
INSERT INTO parameter VALUES(45,1,45);
INSERT INTO parameter VALUES(45,2,45);
CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT;
INSERT INTO environment VALUES(1,'e788d7105ee94b6c2a76450043fc053ee6d179b1cebfffd31a7b933e8ed3918a','{"ablate":"0.1.0","compiler":"12.2.0","cores":2,"cpu_capability":"AVX512","git":"8cd4b8b","gpu_driver":"","gpus":[],"host":"vm","libraries":{"glibc":"2.36","libstdc++":"20220819","mkl":"Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel(R) 64 architecture applications","onednn":"Intel(R) MKL-DNN v3.10.2 (Git Hash f1d471933dc852f956fd05389f9313c7148783d5)","openmp":"OpenMP 201511 (a.k.a. OpenMP 4.5)"},"processor":"AMD EPYC","system":"Linux 6.18.44-fc-v669","torch":"2.11.0","variables":{"OMP_WAIT_POLICY":"PASSIVE","OPENBLAS_CORETYPE":"Haswell","OPENBLAS_L2_SIZE":"512"}}');
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'failed', 'timeout', 'interrupted')),
  reason TEXT NOT NULL,
  started_us INTEGER NOT NULL,
  wall_s REAL NOT NULL,
  cpu_s REAL NOT NULL,
  peak_resident_bytes INTEGER NOT NULL,
  signal INTEGER,
  exit_code INTEGER,
  environment INTEGER NOT NULL REFERENCES environment,
  output TEXT NOT NULL
, step INTEGER NOT NULL DEFAULT 0, steps INTEGER NOT NULL DEFAULT 0, main_metric INTEGER REFERENCES metric) STRICT;
INSERT INTO attempt VALUES(1,2,'done','',1795422882892608,0.12200469699999999528,0.014113999999999999809,101523456,NULL,0,1,'',2,2,7);
INSERT INTO attempt VALUES(2,1,'done','',1795422882892448,0.14402316100000001064,0.014577999999999998945,101523456,NULL,0,1,'',2,2,7);
CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('max', 'min', '')),
  description TEXT NOT NULL
) STRICT;
INSERT INTO metric VALUES(1,'memory/peak_resident','MiB','min','most resident memory of the trial''s process, as the kernel counts it');
INSERT INTO metric VALUES(2,'time/cpu','s','min','processor time of the trial''s process, user and system');
INSERT INTO metric VALUES(3,'time/wall','s','min','time from the start of the trial''s process to its end');
INSERT INTO metric VALUES(4,'train/loss','','min','mean training loss over the last window of its curve: each of at most 200 points is the mean since the last one');
INSERT INTO metric VALUES(5,'dev/accuracy','%','max','share of targets met');
INSERT INTO metric VALUES(6,'dev/loss','','min','mean cross-entropy of the targets, in nats');
INSERT INTO metric VALUES(7,'test/accuracy','%','max','share of targets met');
INSERT INTO metric VALUES(8,'test/loss','','min','mean cross-entropy of the targets, in nats');
INSERT INTO metric VALUES(9,'dev/best_step','steps','','the step of the best dev checkpoint: the first of the best in the task''s first metric');
INSERT INTO metric VALUES(10,'train/forward_time','ms','min','median time of a training step up to its loss: batch and forward pass');
INSERT INTO metric VALUES(11,'train/forward_backward_time','ms','min','median time of a training step up to its gradients');
INSERT INTO metric VALUES(12,'train/step_time','ms','min','median time of a training step: batch, forward, backward, optimiser');
INSERT INTO metric VALUES(13,'train/step_cpu_time','ms','min','median processor time of a training step, all threads of the process together');
INSERT INTO metric VALUES(14,'train/step_spread','%','','how far steps'' times lie apart: the middle half of them over their median, without the first step');
INSERT INTO metric VALUES(15,'train/examples_per_second','examples/s','max','batch size over the median step time');
INSERT INTO metric VALUES(16,'model/parameters','','min','trained numbers of the whole model');
INSERT INTO metric VALUES(17,'memory/peak_tensor','MiB','min','most memory that tensors held at once in training steps: weights, optimiser and activations');
INSERT INTO metric VALUES(18,'memory/state','MiB','min','what all layers together hand on from a segment to the next, of one sequence, at the end of training; of models that do');
CREATE TABLE result (
  metric INTEGER NOT NULL REFERENCES metric,
  attempt INTEGER NOT NULL REFERENCES attempt,
  value REAL,
  PRIMARY KEY (metric, attempt)
) STRICT, WITHOUT ROWID;
INSERT INTO result VALUES(1,1,96.820312500000000003);
INSERT INTO result VALUES(1,2,96.820312500000000003);
INSERT INTO result VALUES(2,1,0.014113999999999999809);
INSERT INTO result VALUES(2,2,0.014577999999999998945);
INSERT INTO result VALUES(3,1,0.12200469699999999528);
INSERT INTO result VALUES(3,2,0.14402316100000001064);
INSERT INTO result VALUES(4,1,0.95029652118682861328);
INSERT INTO result VALUES(4,2,0.7502740025520324707);
INSERT INTO result VALUES(5,1,50.0);
INSERT INTO result VALUES(5,2,50.0);
INSERT INTO result VALUES(6,1,0.73458433151245117187);
INSERT INTO result VALUES(6,2,0.73215055465698242187);
INSERT INTO result VALUES(7,1,50.0);
INSERT INTO result VALUES(7,2,50.0);
INSERT INTO result VALUES(8,1,0.69641077518463134765);
INSERT INTO result VALUES(8,2,0.69459694623947143554);
INSERT INTO result VALUES(9,1,1.0);
INSERT INTO result VALUES(9,2,1.0);
INSERT INTO result VALUES(10,1,29.204954000000000746);
INSERT INTO result VALUES(10,2,38.168376999999999554);
INSERT INTO result VALUES(11,1,30.33711399999999969);
INSERT INTO result VALUES(11,2,39.289560999999999069);
INSERT INTO result VALUES(12,1,30.511704999999999187);
INSERT INTO result VALUES(12,2,39.460667000000000825);
INSERT INTO result VALUES(13,1,5.3406539999999989021);
INSERT INTO result VALUES(13,2,5.3750859999999995864);
INSERT INTO result VALUES(14,1,95.523066747947424914);
INSERT INTO result VALUES(14,2,95.592948016947289604);
INSERT INTO result VALUES(15,1,65.548614867638505645);
INSERT INTO result VALUES(15,2,50.683380491262347788);
INSERT INTO result VALUES(16,1,2682.0);
INSERT INTO result VALUES(16,2,2682.0);
INSERT INTO result VALUES(17,1,0.05860137939453125);
INSERT INTO result VALUES(17,2,0.05860137939453125);
CREATE TABLE curve (
  attempt INTEGER NOT NULL REFERENCES attempt,
  metric INTEGER NOT NULL REFERENCES metric,
  step INTEGER NOT NULL,
  value REAL,
  PRIMARY KEY (attempt, metric, step)
) STRICT, WITHOUT ROWID;
INSERT INTO curve VALUES(1,4,1,0.55015838146209716796);
INSERT INTO curve VALUES(1,4,2,0.95029652118682861328);
INSERT INTO curve VALUES(1,5,1,50.0);
INSERT INTO curve VALUES(1,5,2,50.0);
INSERT INTO curve VALUES(1,6,1,0.73458433151245117187);
INSERT INTO curve VALUES(1,6,2,0.73458433151245117187);
INSERT INTO curve VALUES(2,4,1,0.83601462841033935546);
INSERT INTO curve VALUES(2,4,2,0.7502740025520324707);
INSERT INTO curve VALUES(2,5,1,50.0);
INSERT INTO curve VALUES(2,5,2,50.0);
INSERT INTO curve VALUES(2,6,1,0.73215055465698242187);
INSERT INTO curve VALUES(2,6,2,0.73215055465698242187);
CREATE TABLE plugin (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('attention', 'compression', 'task')),
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  code_identity TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  path TEXT NOT NULL,
  UNIQUE (kind, name, version, code_identity, content_hash, path)
) STRICT;
INSERT INTO plugin VALUES(1,'task','bytes','1.1.0','4666047f2d61fc367672503b2d895408eaeaaf33aa6b47a8d07656cf374a5b38','bfff6e8aa5a237412c6c173ab8ea19c5b0929176384a791ed86e3d3bb33ea62b','/home/me/lib/ablate/plugins/bytes.so');
INSERT INTO plugin VALUES(2,'attention','softmax','1.0.0','99e9a3d9b1f358cd6e55e36cf3f60598cb3732142b139135c9725f9fe1bb92a9','5bff8bcfc03f55bc44e25e3fae9ebfedc39ceb4ec617e2837cb0787c94b3de1b','/home/me/lib/ablate/plugins/softmax.so');
CREATE TABLE attempt_plugin (
  attempt INTEGER NOT NULL REFERENCES attempt,
  plugin INTEGER NOT NULL REFERENCES plugin, verdict TEXT NOT NULL DEFAULT 'unchecked' CHECK (verdict IN ('passed', 'failed', 'unchecked')), failed_checks TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (attempt, plugin)
) STRICT, WITHOUT ROWID;
INSERT INTO attempt_plugin VALUES(1,1,'unchecked','');
INSERT INTO attempt_plugin VALUES(1,2,'unchecked','');
INSERT INTO attempt_plugin VALUES(2,1,'unchecked','');
INSERT INTO attempt_plugin VALUES(2,2,'unchecked','');
CREATE TABLE published_value (
  experiment INTEGER NOT NULL REFERENCES experiment,
  metric TEXT NOT NULL,
  trial INTEGER NOT NULL REFERENCES trial,
  value REAL NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (experiment, metric, trial)
) STRICT, WITHOUT ROWID;
CREATE TABLE running (
  host TEXT NOT NULL,
  process INTEGER NOT NULL,
  started INTEGER NOT NULL,
  key TEXT NOT NULL,
  started_us INTEGER NOT NULL,
  step INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  loss REAL,
  PRIMARY KEY (host, process, started, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE basis (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT;
INSERT INTO basis VALUES(1,'e22079d65c738d6f18f2bb441d22f19d08b2e926884cb3973bf21efce1e29f46','{"data":"bytes 2 16 256 0","plugins":{"attention":"99e9a3d9b1f358cd6e55e36cf3f60598cb3732142b139135c9725f9fe1bb92a9","task":"4666047f2d61fc367672503b2d895408eaeaaf33aa6b47a8d07656cf374a5b38"},"runtime":3,"torch":"2.11.0"}');
CREATE TABLE key_part (
  trial INTEGER PRIMARY KEY REFERENCES trial,
  basis INTEGER NOT NULL REFERENCES basis,
  settings_hash INTEGER NOT NULL,
  settings TEXT NOT NULL
) STRICT;
INSERT INTO key_part VALUES(1,1,5165533211808014206,'{"attention.plugin":"softmax","model.d_model":8,"model.hidden":8,"model.layers":1,"seed":1,"task.length":16,"task.plugin":"bytes","train.batch":2,"train.evaluate_batches":1,"train.steps":2,"train.test_batches":1}');
INSERT INTO key_part VALUES(2,1,3876967679140347997,'{"attention.plugin":"softmax","model.d_model":8,"model.hidden":8,"model.layers":1,"seed":2,"task.length":16,"task.plugin":"bytes","train.batch":2,"train.evaluate_batches":1,"train.steps":2,"train.test_batches":1}');
CREATE TABLE proof (
  id INTEGER PRIMARY KEY,
  proven_us INTEGER NOT NULL,
  before TEXT NOT NULL,
  now TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment
) STRICT;
CREATE TABLE proof_attempt (
  proof INTEGER NOT NULL REFERENCES proof,
  attempt INTEGER NOT NULL REFERENCES attempt,
  PRIMARY KEY (proof, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE alias (
  key TEXT PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial,
  proof INTEGER NOT NULL REFERENCES proof
) STRICT, WITHOUT ROWID;
CREATE INDEX experiment_trial_by_trial ON experiment_trial (trial);
CREATE INDEX attempt_by_trial ON attempt (trial, outcome);
CREATE INDEX attempt_by_outcome ON attempt (outcome);
CREATE INDEX key_part_by_settings ON key_part (settings_hash);
CREATE VIEW "trials" AS SELECT a.id AS "attempt", (SELECT group_concat(e.name) FROM experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = t.id) AS "experiments", t.id AS "trial", t.key AS "key", a.outcome AS "outcome", a.reason AS "reason", strftime('%Y-%m-%d %H:%M:%S', a.started_us / 1000000, 'unixepoch') AS "started", a.wall_s AS "wall_s", nullif(a.cpu_s, 0) AS "cpu_s", nullif(a.peak_resident_bytes, 0) / 1048576.0 AS "peak_resident_mib", nullif(a.step, 0) AS "step", nullif(a.steps, 0) AS "steps", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 1 AND p.trial = t.id) AS "attention", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 2 AND p.trial = t.id) AS "attention.heads", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 3 AND p.trial = t.id) AS "model.activation", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 4 AND p.trial = t.id) AS "model.attention_dropout", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 5 AND p.trial = t.id) AS "model.attention_width", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 6 AND p.trial = t.id) AS "model.causal", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 7 AND p.trial = t.id) AS "model.classifier", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 8 AND p.trial = t.id) AS "model.classifier_hidden", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 9 AND p.trial = t.id) AS "model.cut", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 10 AND p.trial = t.id) AS "model.d_model", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 11 AND p.trial = t.id) AS "model.dropout", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 12 AND p.trial = t.id) AS "model.hidden", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 13 AND p.trial = t.id) AS "model.inner_dropout", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 14 AND p.trial = t.id) AS "model.layers", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 15 AND p.trial = t.id) AS "model.norm", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 16 AND p.trial = t.id) AS "model.pooling", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 17 AND p.trial = t.id) AS "model.positions", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 18 AND p.trial = t.id) AS "model.segment", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 19 AND p.trial = t.id) AS "model.tied_output", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 20 AND p.trial = t.id) AS "seed", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 21 AND p.trial = t.id) AS "task", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 22 AND p.trial = t.id) AS "task.data_seed", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 23 AND p.trial = t.id) AS "task.examples", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 24 AND p.trial = t.id) AS "task.length", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 25 AND p.trial = t.id) AS "train.accumulate", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 26 AND p.trial = t.id) AS "train.batch", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 27 AND p.trial = t.id) AS "train.beta1", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 28 AND p.trial = t.id) AS "train.beta1_low", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 29 AND p.trial = t.id) AS "train.beta2", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 30 AND p.trial = t.id) AS "train.clip", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 31 AND p.trial = t.id) AS "train.device", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 32 AND p.trial = t.id) AS "train.dtype", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 33 AND p.trial = t.id) AS "train.epsilon", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 34 AND p.trial = t.id) AS "train.evaluate_batches", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 35 AND p.trial = t.id) AS "train.evaluate_every", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 36 AND p.trial = t.id) AS "train.learning_rate", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 37 AND p.trial = t.id) AS "train.loss_piece", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 38 AND p.trial = t.id) AS "train.schedule", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 39 AND p.trial = t.id) AS "train.shuffle_labels", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 40 AND p.trial = t.id) AS "train.steps", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 41 AND p.trial = t.id) AS "train.stride", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 42 AND p.trial = t.id) AS "train.test_batches", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 43 AND p.trial = t.id) AS "train.threads", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 44 AND p.trial = t.id) AS "train.warmup", (SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = 45 AND p.trial = t.id) AS "train.weight_decay", (SELECT value FROM result WHERE metric = 5 AND attempt = a.id) AS "dev/accuracy", (SELECT value FROM result WHERE metric = 9 AND attempt = a.id) AS "dev/best_step", (SELECT value FROM result WHERE metric = 6 AND attempt = a.id) AS "dev/loss", (SELECT value FROM result WHERE metric = 1 AND attempt = a.id) AS "memory/peak_resident", (SELECT value FROM result WHERE metric = 17 AND attempt = a.id) AS "memory/peak_tensor", (SELECT value FROM result WHERE metric = 18 AND attempt = a.id) AS "memory/state", (SELECT value FROM result WHERE metric = 16 AND attempt = a.id) AS "model/parameters", (SELECT value FROM result WHERE metric = 7 AND attempt = a.id) AS "test/accuracy", (SELECT value FROM result WHERE metric = 8 AND attempt = a.id) AS "test/loss", (SELECT value FROM result WHERE metric = 2 AND attempt = a.id) AS "time/cpu", (SELECT value FROM result WHERE metric = 3 AND attempt = a.id) AS "time/wall", (SELECT value FROM result WHERE metric = 15 AND attempt = a.id) AS "train/examples_per_second", (SELECT value FROM result WHERE metric = 11 AND attempt = a.id) AS "train/forward_backward_time", (SELECT value FROM result WHERE metric = 10 AND attempt = a.id) AS "train/forward_time", (SELECT value FROM result WHERE metric = 4 AND attempt = a.id) AS "train/loss", (SELECT value FROM result WHERE metric = 13 AND attempt = a.id) AS "train/step_cpu_time", (SELECT value FROM result WHERE metric = 14 AND attempt = a.id) AS "train/step_spread", (SELECT value FROM result WHERE metric = 12 AND attempt = a.id) AS "train/step_time" FROM trial t JOIN attempt a ON a.id = coalesce((SELECT max(id) FROM attempt WHERE trial = t.id AND outcome = 'done'), (SELECT max(id) FROM attempt WHERE trial = t.id));
CREATE VIEW "attempts" AS SELECT a.id AS "attempt", t.id AS "trial", t.key AS "key", a.outcome AS "outcome", a.reason AS "reason", strftime('%Y-%m-%d %H:%M:%S', a.started_us / 1000000, 'unixepoch') AS "started", a.wall_s AS "wall_s", nullif(a.cpu_s, 0) AS "cpu_s", nullif(a.peak_resident_bytes, 0) / 1048576.0 AS "peak_resident_mib", nullif(a.step, 0) AS "step", nullif(a.steps, 0) AS "steps", a.signal AS "signal", a.exit_code AS "exit_code", a.output AS "output", e.json AS "environment" FROM attempt a JOIN trial t ON t.id = a.trial JOIN environment e ON e.id = a.environment;
CREATE VIEW "curves" AS SELECT (SELECT group_concat(e.name) FROM experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = t.id) AS "experiment", t.key AS "key", c.attempt AS "attempt", m.name AS "metric", c.step AS "step", c.value AS "value" FROM curve c JOIN metric m ON m.id = c.metric JOIN attempt a ON a.id = c.attempt JOIN trial t ON t.id = a.trial;
CREATE VIEW "parameters" AS SELECT t.id AS "trial", t.key AS "key", n.name AS "path", v.text AS "text", v.number AS "number" FROM parameter p JOIN path n ON n.id = p.path JOIN value v ON v.id = p.value JOIN trial t ON t.id = p.trial;
CREATE VIEW "metrics" AS SELECT r.attempt AS "attempt", t.key AS "key", m.name AS "metric", r.value AS "value", m.unit AS "unit", m.direction AS "direction", m.description AS "description" FROM result r JOIN metric m ON m.id = r.metric JOIN attempt a ON a.id = r.attempt JOIN trial t ON t.id = a.trial;
CREATE VIEW "plugins" AS SELECT u.attempt AS "attempt", t.key AS "key", p.kind AS "kind", p.name AS "plugin", p.version AS "version", p.code_identity AS "code_identity", p.content_hash AS "content_hash", p.path AS "path", u.verdict AS "verdict", u.failed_checks AS "failed_checks" FROM attempt_plugin u JOIN plugin p ON p.id = u.plugin JOIN attempt a ON a.id = u.attempt JOIN trial t ON t.id = a.trial;
CREATE VIEW "experiments" AS SELECT e.name AS "experiment", e.description AS "description", e.file AS "file", e.overrides AS "overrides", (SELECT count(*) FROM experiment_trial m WHERE m.experiment = e.id) AS "trials" FROM experiment e;
CREATE VIEW "members" AS SELECT e.name AS "experiment", m.trial AS "trial", m.position AS "position", m.listed AS "listed", m.cell AS "cell" FROM experiment_trial m JOIN experiment e ON e.id = m.experiment;
CREATE VIEW "published" AS SELECT e.name AS "experiment", p.trial AS "trial", t.key AS "key", p.metric AS "metric", p.value AS "value", p.source AS "source" FROM published_value p JOIN experiment e ON e.id = p.experiment JOIN trial t ON t.id = p.trial;
COMMIT;
